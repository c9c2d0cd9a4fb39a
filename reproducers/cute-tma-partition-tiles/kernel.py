"""The tile in global memory is half as wide as the one that the TMA loads into shared memory."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import cpasync
from cutlass.utils import SmemAllocator


@cute.kernel
def load_tile(atom: cute.CopyAtom, view: cute.Tensor, layout: cute.Layout, DTYPE: cutlass.Constexpr):
    memory = SmemAllocator()
    barrier = memory.allocate_array(cutlass.Int64, 1)
    shared = memory.allocate_tensor(DTYPE, layout, 128)
    tile = cute.local_tile(view, (layout.shape[0], 32), (0, 0))
    one = cute.make_layout(1)
    target, source = cpasync.tma_partition(atom, 0, one, cute.group_modes(shared, 0, 2), cute.group_modes(tile, 0, 2))
    cute.copy(atom, source, target, tma_bar_ptr=barrier)


@cute.jit
def host(matrix: cute.Tensor, ROWS: cutlass.Constexpr, COLUMNS: cutlass.Constexpr):
    layout = cute.make_layout((ROWS, COLUMNS), stride=(COLUMNS, 1))
    load = cpasync.CopyBulkTensorTileG2SOp()
    atom, view = cpasync.make_tiled_tma_atom(load, matrix, layout, (ROWS, COLUMNS))
    load_tile(atom, view, layout, matrix.element_type).launch(grid=(1, 1, 1), block=(32, 1, 1))
