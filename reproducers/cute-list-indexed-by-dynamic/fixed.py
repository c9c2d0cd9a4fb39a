"""The values are in a register tensor."""

import cutlass
import cutlass.cute as cute


registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


@cute.kernel
def fill(out: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    values = registers(cute.make_layout(3), cutlass.Float32)
    for i in cutlass.range_constexpr(3):
        values[i] = cutlass.Float32(i + 1)
    out[thread] = values[n]
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    fill(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
