"""A slice of the layout is of one dimension."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def scale(x_ptr, y_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [4, 1], [1, 0])
    offsets = gl.arange(0, BLOCK, layout=gl.SliceLayout(0, layout))
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets) * 2.0)
