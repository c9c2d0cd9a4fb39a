"""CuTe kernels with more than their failure needs (tests of the reduction)."""

import cutlass
from cutlass import cute, utils

WAIT_AT = 99


@cute.kernel
def wait(tensor: cute.Tensor, out: cute.Tensor, scale: cutlass.Float32):
    thread, _, _ = cute.arch.thread_idx()
    value = tensor[thread] * scale
    cute.arch.barrier(barrier_id=WAIT_AT, number_of_threads=32)
    out[thread] = value + cutlass.Float32(1.0)


@cute.jit
def barrier(tensor: cute.Tensor, out: cute.Tensor, scale: cutlass.Float32, THREADS: cutlass.Constexpr):
    # Shapes are looked at only.
    size = cute.size(tensor)
    wait(tensor, out, scale).launch(grid=(size // THREADS, 1, 1), block=(THREADS, 1, 1))


class Waiter:
    """The same as a class."""

    def __init__(self, threads: int, barrier: int = 0):
        self.threads = threads
        self.barrier = barrier
        self.unused = threads * 2

    @cute.jit
    def __call__(self, tensor: cute.Tensor, out: cute.Tensor, stream):
        cute.size(tensor)
        self.kernel(tensor, out).launch(grid=(1, 1, 1), block=(self.threads, 1, 1), stream=stream)

    @cute.kernel
    def kernel(self, tensor: cute.Tensor, out: cute.Tensor):
        thread, _, _ = cute.arch.thread_idx()
        value = tensor[thread]
        cute.arch.barrier(barrier_id=self.barrier, number_of_threads=32)
        out[thread] = value


@cute.kernel
def fill(tensor: cute.Tensor, kib: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    layout = cute.make_layout((kib * 256,), stride=(1,))
    shared = utils.SmemAllocator().allocate_tensor(cutlass.Float32, layout, byte_alignment=16)
    shared[thread] = tensor[thread]
    cute.arch.sync_threads()
    tensor[thread] = shared[31 - thread]


@cute.jit
def too_large(tensor: cute.Tensor, KIB: cutlass.Constexpr):
    fill(tensor, KIB).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def dies(tensor: cute.Tensor, pointer: cute.Pointer, numbers, stream):
    import os

    os.abort()
