"""The type of a register tensor's elements is one of the DSL's."""

import cutlass
import cutlass.cute as cute


registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    values = registers(cute.make_layout(4), float)
    values[0] = 2.0
    out[thread] = values[0]
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
