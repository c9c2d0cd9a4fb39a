"""The host function is annotated to take an integer; it is given a tensor."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    fill(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
