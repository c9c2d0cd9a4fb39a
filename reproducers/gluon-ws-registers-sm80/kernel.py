"""Moving registers between partitions is setmaxnreg, which came with sm_90."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def double(x_ptr, y_ptr, n, layout: gl.constexpr, BLOCK: gl.constexpr):
    offsets = gl.arange(0, BLOCK, layout=layout)
    for step in range(n):
        gl.store(y_ptr + step * BLOCK + offsets, gl.load(x_ptr + step * BLOCK + offsets) * 2)


@gluon.jit
def two_roles(x_ptr, y_ptr, z_ptr, n, BLOCK: gl.constexpr, WARPS: gl.constexpr):
    first: gl.constexpr = gl.BlockedLayout([1], [32], [WARPS], [0])
    second: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    gl.warp_specialize(
        [(double, (x_ptr, y_ptr, n, first, BLOCK)), (double, (x_ptr, z_ptr, n, second, BLOCK))], [1], [24]
    )
