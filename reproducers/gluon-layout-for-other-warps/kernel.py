"""The layout hands the block to four warps; the kernel has eight."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def scale(x_ptr, y_ptr, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets, mask=offsets < n) * 2.0, mask=offsets < n)
