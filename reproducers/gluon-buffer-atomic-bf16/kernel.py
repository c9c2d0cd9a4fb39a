"""Buffer atomics add bf16 from the MI350 on."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def count(x_ptr, y_ptr, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([2], [64], [4], [0])
    offsets = gl.arange(0, BLOCK, layout=layout)
    gl.amd.cdna3.buffer_atomic_add(y_ptr, offsets, gl.amd.cdna3.buffer_load(x_ptr, offsets))
