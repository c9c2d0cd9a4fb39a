"""A partition runs on other warps, which do not have the registers of this tensor."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def double(x, y_ptr, BLOCK: gl.constexpr, layout: gl.constexpr):
    gl.store(y_ptr + gl.arange(0, BLOCK, layout=layout), x * 2)


@gluon.jit
def two_roles(x_ptr, y_ptr, z_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    x = gl.load(x_ptr + gl.arange(0, BLOCK, layout=layout))
    gl.warp_specialize([(double, (x, y_ptr, BLOCK, layout)), (double, (x, z_ptr, BLOCK, layout))], [4], [24])
