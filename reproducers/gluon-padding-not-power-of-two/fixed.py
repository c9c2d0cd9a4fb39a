"""The padding is a power of two."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def stage(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 16], [4, 1], [1, 0])
    padded: gl.constexpr = gl.PaddedSharedLayout.with_identity_for([[64, 8]], [M, N], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    offsets = rows * N + gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    tile = gl.allocate_shared_memory(gl.float32, [M, N], padded)
    tile.store(gl.load(x_ptr + offsets))
    gl.store(y_ptr + offsets, tile.load(layout))
