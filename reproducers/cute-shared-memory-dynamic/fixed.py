"""The size of an allocation in shared memory is a constant."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def turn_round(out: cute.Tensor, length: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    shared = SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(128), byte_alignment=16)
    shared[thread] = out[thread]
    cute.arch.sync_threads()
    out[thread] = shared[127 - thread]


@cute.jit
def host(out: cute.Tensor, length: cutlass.Int32):
    turn_round(out, length).launch(grid=(1, 1, 1), block=(128, 1, 1))
