"""setmaxnreg takes multiples of 8 from 24 to 256."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, REGISTERS: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    cute.arch.warpgroup_reg_dealloc(REGISTERS)
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, REGISTERS: cutlass.Constexpr):
    fill(out, REGISTERS).launch(grid=(1, 1, 1), block=(128, 1, 1))
