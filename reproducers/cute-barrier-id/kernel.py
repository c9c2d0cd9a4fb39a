"""A block has 16 hardware barriers, 0 to 15."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, BARRIER: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    cute.arch.barrier(barrier_id=BARRIER, number_of_threads=128)
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, BARRIER: cutlass.Constexpr):
    fill(out, BARRIER).launch(grid=(1, 1, 1), block=(128, 1, 1))
