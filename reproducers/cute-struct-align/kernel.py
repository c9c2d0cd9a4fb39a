"""The alignment of a struct's member is a power of two."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


def storage(align: int):
    """128 floats in shared memory."""

    @cute.struct
    class Storage:
        values: cute.struct.Align[cute.struct.MemRange[cutlass.Float32, 128], align]

    return Storage


@cute.kernel
def turn_round(out: cute.Tensor, ALIGN: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    shared = SmemAllocator().allocate(storage(ALIGN)).values.get_tensor(cute.make_layout(128))
    shared[thread] = out[thread]
    cute.arch.sync_threads()
    out[thread] = shared[127 - thread]


@cute.jit
def host(out: cute.Tensor, ALIGN: cutlass.Constexpr):
    turn_round(out, ALIGN).launch(grid=(1, 1, 1), block=(128, 1, 1))
