"""The variable is a float in one branch and an integer in the other."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    value = cutlass.Float32(0)
    if thread < n:
        value = cutlass.Int32(3)
    out[0] = out[0] + value
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    fill(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
