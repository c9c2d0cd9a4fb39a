"""Kernels that compile, and ones that fail in each of the DSL's stages."""

import cutlass
from cutlass import cute, utils


@cute.kernel
def fill(tensor: cute.Tensor, threads: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    if thread < threads:
        tensor[thread] = cutlass.Float32(1.0)


@cute.jit
def host(tensor: cute.Tensor, THREADS: cutlass.Constexpr):
    fill(tensor, THREADS).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))


@cute.kernel
def through_shared_memory(tensor: cute.Tensor, kib: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    allocator = utils.SmemAllocator()
    layout = cute.make_layout((kib * 256,), stride=(1,))
    shared = allocator.allocate_tensor(cutlass.Float32, layout, byte_alignment=16)
    shared[thread] = tensor[thread]
    cute.arch.sync_threads()
    tensor[thread] = shared[31 - thread]


@cute.jit
def shared(tensor: cute.Tensor, KIB: cutlass.Constexpr):
    through_shared_memory(tensor, KIB).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.kernel
def wait_at(tensor: cute.Tensor, barrier: cutlass.Constexpr):
    cute.arch.barrier(barrier_id=barrier, number_of_threads=32)
    tensor[0] = cutlass.Float32(0.0)


@cute.jit
def barrier(tensor: cute.Tensor, ID: cutlass.Constexpr):
    wait_at(tensor, ID).launch(grid=(1, 1, 1), block=(32, 1, 1))


@cute.jit
def raises(tensor: cute.Tensor):
    fill(tensor, undefined_name).launch(grid=(1, 1, 1), block=(32, 1, 1))  # noqa: F821


@cute.jit
def aborts(tensor: cute.Tensor):
    import os

    os.abort()


@cute.jit
def endless(tensor: cute.Tensor):
    import itertools

    for _ in itertools.count():
        pass


class Filler:
    """As NVIDIA's examples are: the constructor has the configuration, and the object is the host function."""

    def __init__(self, threads: int, value: float = 0.0):
        self.threads, self.value = threads, value

    @cute.jit
    def __call__(self, tensor: cute.Tensor, count: cutlass.Int32, stream):
        self.kernel(tensor, count).launch(grid=(count, 1, 1), block=(self.threads, 1, 1))

    @cute.kernel
    def kernel(self, tensor: cute.Tensor, count: cutlass.Int32):
        thread, _, _ = cute.arch.thread_idx()
        tensor[thread] = cutlass.Float32(self.value)
