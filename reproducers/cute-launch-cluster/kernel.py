"""A cluster is stated by exactly three numbers."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, CLUSTER: cutlass.Constexpr):
    fill(out).launch(grid=(32, 1, 1), block=(128, 1, 1), cluster=CLUSTER)
