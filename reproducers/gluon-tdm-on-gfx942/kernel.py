"""The tensor data mover came with gfx1250."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def wait(x_ptr):
    gl.amd.gfx1250.tdm.async_wait(0)
    gl.store(x_ptr, 1.0)
