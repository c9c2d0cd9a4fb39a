"""Kernels with two failures, of which the first hides the second."""

import cutlass
from cutlass import cute


@cute.kernel
def narrow(x: cute.Tensor, REGISTERS: cutlass.Constexpr, BARRIER: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    cute.arch.setmaxregister_decrease(REGISTERS)
    cute.arch.barrier(barrier_id=BARRIER, number_of_threads=128)
    x[thread] = x[thread] * 2.0


@cute.jit
def numbers(x: cute.Tensor, REGISTERS: cutlass.Constexpr, BARRIER: cutlass.Constexpr):
    narrow(x, REGISTERS, BARRIER).launch(grid=(1, 1, 1), block=(128, 1, 1))


@cute.kernel
def weigh(x: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    if thread >= n:
        return
    weights = [1.0, 2.0, 3.0]
    x[thread] = x[thread] * weights[n]


@cute.jit
def texts(x: cute.Tensor, n: cutlass.Int32):
    weigh(x, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
