"""12 rows of 8 threads copy into shared memory whose swizzle repeats every 8 rows.

The rows of the copy do not divide into repeats of the swizzle; the compiler's layout algebra aborts on that."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def load_tile(view: cute.Tensor, copy: cute.TiledCopy, layout: cute.ComposedLayout):
    thread, _, _ = cute.arch.thread_idx()
    shared = SmemAllocator().allocate_tensor(view.element_type, layout, byte_alignment=1024)
    part = copy.get_slice(thread)
    cute.copy(copy, part.partition_S(view), part.partition_D(shared))
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)


@cute.jit
def host(view: cute.Tensor, THREADS: cutlass.Constexpr):
    atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), view.element_type, num_bits_per_copy=128)
    threads = cute.make_layout((THREADS // 8, 8), stride=(8, 1))
    copy = cute.make_tiled_copy_tv(atom, threads, cute.make_layout((1, 8)))
    eight_rows = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout((8, 64), stride=(64, 1)))
    layout = cute.tile_to_shape(eight_rows, (96, 64), (0, 1))
    load_tile(view, copy, layout).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))
