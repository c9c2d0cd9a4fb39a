"""The source has four times as many elements as the destination."""

import cutlass
import cutlass.cute as cute


registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    values = registers(cute.make_layout((8, 1)), cutlass.Float32)
    target = registers(cute.make_layout((2, 1)), cutlass.Float32)
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), cutlass.Float32)
    cute.copy(atom, values, target)
    out[thread] = target[0]
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
