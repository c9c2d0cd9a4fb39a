"""Every power of two is a basis."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy(x_ptr, y_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.DistributedLinearLayout([[1]], [[2], [4], [8], [16], [32]], [[64], [0]], [], [BLOCK])
    offsets = gl.arange(0, BLOCK, layout=layout)
    gl.store(y_ptr + offsets, gl.load(x_ptr + offsets))
