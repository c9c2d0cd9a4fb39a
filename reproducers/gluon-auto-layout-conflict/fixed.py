"""The second layout is a conversion of the first."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def store_twice(out_ptr, BLOCK: gl.constexpr):
    parent: gl.constexpr = gl.BlockedLayout([1, 1], [1, 32], [1, 4], [1, 0])
    offsets = gl.arange(0, BLOCK, gl.AutoLayout())
    row = gl.set_auto_layout(offsets, gl.SliceLayout(0, parent))
    column = gl.convert_layout(row, gl.SliceLayout(1, parent))
    gl.store(out_ptr + row, row)
    gl.store(out_ptr + column, column)
