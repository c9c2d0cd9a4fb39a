"""A 128-bit cp.async moves eight bf16 that lie side by side in both memories.

In global memory they do: the view is the transpose of a row-major matrix. In shared memory, which is laid out in rows,
they lie 64 elements apart, so that the destination is aligned to one element only."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def load_tile(view: cute.Tensor, layout: cute.Layout, copy: cute.TiledCopy):
    thread, _, _ = cute.arch.thread_idx()
    shared = SmemAllocator().allocate_tensor(view.element_type, layout, byte_alignment=16)
    part = copy.get_slice(thread)
    cute.copy(copy, part.partition_S(view), part.partition_D(shared))
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)


@cute.jit
def host(matrix: cute.Tensor, BITS: cutlass.Constexpr, VALUES: cutlass.Constexpr):
    view = cute.make_tensor(matrix.iterator, cute.make_layout((128, 64), stride=(1, 128)))
    atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), matrix.element_type, num_bits_per_copy=BITS)
    copy = cute.make_tiled_copy_tv(atom, cute.make_layout((16, 16), stride=(16, 1)), cute.make_layout((VALUES, 1)))
    load_tile(view, cute.make_layout((128, 64), stride=(64, 1)), copy).launch(grid=(1, 1, 1), block=(256, 1, 1))
