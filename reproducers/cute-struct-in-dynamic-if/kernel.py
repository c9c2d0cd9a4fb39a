"""The struct in shared memory is used inside a branch of a run-time if."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.struct
class Storage:
    values: cute.struct.MemRange[cutlass.Float32, 128]


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    storage = SmemAllocator().allocate(Storage)
    if thread == cutlass.Int32(0):
        shared = storage.values.get_tensor(cute.make_layout(128))
        shared[0] = out[0]
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
