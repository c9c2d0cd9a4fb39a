"""gl.warp_specialize is given two numbers of warps and one worker."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def double(x_ptr, y_ptr, BLOCK: gl.constexpr, layout: gl.constexpr):
    offsets = gl.arange(0, BLOCK, layout=layout)
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets) * 2)


@gluon.jit
def two_roles(x_ptr, y_ptr, z_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    gl.warp_specialize(
        [(double, (x_ptr, y_ptr, BLOCK, layout)), (double, (x_ptr, z_ptr, BLOCK, layout))], [4, 4], [24, 24]
    )
