"""Tracing runs the function: the recursion has no end, since its condition is known at run time only."""

import cutlass
import cutlass.cute as cute


def halved(n):
    return halved(n // 2)


@cute.kernel
def fill(out: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = halved(n) * 1.0
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    fill(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
