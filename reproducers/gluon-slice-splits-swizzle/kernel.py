"""The pattern repeats every eight rows; the slice takes four of them."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def stage(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    tile = gl.allocate_shared_memory(gl.float16, [M, N], gl.SwizzledSharedLayout(8, 1, 8, [1, 0]))
    tile.store(gl.load(x_ptr + rows * N + columns))
    part = tile.slice(4, 4, dim=0)
    part_rows = gl.arange(0, 4, layout=gl.SliceLayout(1, layout))[:, None]
    gl.store(y_ptr + part_rows * N + columns, part.load(layout))
