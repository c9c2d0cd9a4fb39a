"""A buffer instruction adds 32-bit offsets to one base address."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy(x_ptr, y_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [64], [4], [0])
    offsets = gl.arange(0, BLOCK, layout=layout).to(gl.int64)
    x = gl.amd.cdna3.buffer_load(x_ptr, offsets)
    gl.amd.cdna3.buffer_store(x, y_ptr, offsets)
