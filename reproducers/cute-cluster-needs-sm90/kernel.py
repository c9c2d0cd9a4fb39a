"""Clusters of blocks exist from compute capability 9.0 on."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    cute.arch.cluster_arrive()
    cute.arch.cluster_wait()
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(2, 1, 1), block=(128, 1, 1), cluster=(2, 1, 1))
