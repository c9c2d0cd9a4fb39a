import cutlass
from cutlass import cute

THREADS = 128


@cute.kernel
def wait_and_store(x: cute.Tensor):
    tidx, _, _ = cute.arch.thread_idx()
    cute.arch.barrier(barrier_id=20, number_of_threads=THREADS)
    x[tidx] = 2.0


@cute.jit
def literal(x: cute.Tensor):
    wait_and_store(x).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))


@cute.kernel
def wait_at(x: cute.Tensor, barrier: cutlass.Constexpr):
    tidx, _, _ = cute.arch.thread_idx()
    cute.arch.barrier(barrier_id=barrier, number_of_threads=THREADS)
    x[tidx] = 2.0


@cute.jit
def parameter(x: cute.Tensor, BARRIER: cutlass.Constexpr):
    wait_at(x, BARRIER).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))
