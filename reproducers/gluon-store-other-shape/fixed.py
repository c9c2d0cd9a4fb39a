"""The allocation has the shape of the tile."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def stage(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    offsets = rows * N + gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    tile = gl.allocate_shared_memory(gl.float32, [M, N], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    tile.store(gl.load(x_ptr + offsets))
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets))
