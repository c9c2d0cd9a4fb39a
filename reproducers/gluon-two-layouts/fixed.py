"""One operand is converted to the other's layout."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def add(x_ptr, y_ptr, z_ptr, BLOCK: gl.constexpr):
    one: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    four: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    x = gl.load(x_ptr + gl.arange(0, BLOCK, layout=one))
    y = gl.load(y_ptr + gl.arange(0, BLOCK, layout=four))
    gl.store(z_ptr + gl.arange(0, BLOCK, layout=one), x + gl.convert_layout(y, one))
