"""A tile of a transposed view of a row-major matrix, into shared memory that lies the other way round."""

import cutlass
import cutlass.utils
from cutlass import cute


@cute.kernel
def load(view: cute.Tensor, layout: cute.Layout, tiled: cute.TiledCopy):
    tidx, _, _ = cute.arch.thread_idx()
    tile = cute.local_tile(view, tiler=(128, 64), coord=(0, 0))
    shared = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.BFloat16, layout, byte_alignment=16)
    thread = tiled.get_slice(tidx)
    cute.copy(tiled, thread.partition_S(tile), thread.partition_D(shared))
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)
    cute.arch.sync_threads()
    view[tidx % 128, 0] = shared[tidx % 128, 1]


@cute.jit
def transposed(matrix: cute.Tensor):
    n, m = 128, 64
    view = cute.make_tensor(matrix.iterator, cute.make_layout((n, m), stride=(1, n)))
    layout = cute.make_layout((n, m), stride=(m, 1))
    atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), cutlass.BFloat16, num_bits_per_copy=128)
    threads = cute.make_layout((16, 16), stride=(16, 1))
    tiled = cute.make_tiled_copy_tv(atom, threads, cute.make_layout((8, 1)))
    load(view, layout, tiled).launch(grid=(1, 1, 1), block=(256, 1, 1))
