"""The source has twice as many rows as the shared memory that it is copied to."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def load_tile(view: cute.Tensor, copy: cute.TiledCopy):
    thread, _, _ = cute.arch.thread_idx()
    layout = cute.make_layout((16, 128), stride=(128, 1))
    shared = SmemAllocator().allocate_tensor(view.element_type, layout, byte_alignment=16)
    part = copy.get_slice(thread)
    cute.copy(copy, part.partition_S(view), part.partition_D(shared))


@cute.jit
def host(view: cute.Tensor):
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), view.element_type, num_bits_per_copy=128)
    copy = cute.make_tiled_copy_tv(atom, cute.make_layout((8, 32), stride=(32, 1)), cute.make_layout((1, 4)))
    load_tile(view, copy).launch(grid=(1, 1, 1), block=(256, 1, 1))
