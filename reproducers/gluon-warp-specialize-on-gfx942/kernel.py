"""Of AMD's GPUs only gfx1250 runs partitions of warps apart."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def double(x_ptr, y_ptr, BLOCK: gl.constexpr, layout: gl.constexpr):
    offsets = gl.arange(0, BLOCK, layout=layout)
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets) * 2)


@gluon.jit
def two_roles(x_ptr, y_ptr, z_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [4], [0])
    gl.warp_specialize([(double, (x_ptr, y_ptr, BLOCK, layout)), (double, (x_ptr, z_ptr, BLOCK, layout))], [4], [24])
