"""A barrier counts whole warps: a multiple of 32 threads."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, THREADS: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    cute.arch.barrier(barrier_id=1, number_of_threads=THREADS)
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, THREADS: cutlass.Constexpr):
    fill(out, THREADS).launch(grid=(1, 1, 1), block=(128, 1, 1))
