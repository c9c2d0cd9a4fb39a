"""The vector has four values, the tensor that it is stored to eight."""

import cutlass
import cutlass.cute as cute


registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    four = registers(cute.make_layout(4), cutlass.Float32)
    eight = registers(cute.make_layout(8), cutlass.Float32)
    four.fill(0.0)
    eight.store(four.load())
    out[thread] = eight[0]
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
