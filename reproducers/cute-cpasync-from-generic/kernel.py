"""cp.async reads global memory; the tensor is of generic memory, as one that was made from an array of the host is."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def load_tile(view: cute.Tensor, copy: cute.TiledCopy):
    thread, _, _ = cute.arch.thread_idx()
    layout = cute.make_layout((32, 32), stride=(32, 1))
    shared = SmemAllocator().allocate_tensor(view.element_type, layout, byte_alignment=16)
    part = copy.get_slice(thread)
    cute.copy(copy, part.partition_S(view), part.partition_D(shared))
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)


@cute.jit
def host(view: cute.Tensor):
    atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), view.element_type, num_bits_per_copy=32)
    copy = cute.make_tiled_copy_tv(atom, cute.make_layout((8, 32), stride=(32, 1)), cute.make_layout((1, 1)))
    load_tile(view, copy).launch(grid=(1, 1, 1), block=(256, 1, 1))
