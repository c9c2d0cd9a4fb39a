"""The extents of a launch are integers."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, THREADS: cutlass.Constexpr):
    fill(out).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))
