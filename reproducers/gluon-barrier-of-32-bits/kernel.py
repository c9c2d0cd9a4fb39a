"""A barrier is one word of 64 bits."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier


@gluon.jit
def wait(x_ptr):
    ready = gl.allocate_shared_memory(gl.int32, [1], mbarrier.MBarrierLayout())
    mbarrier.init(ready, count=1)
    mbarrier.arrive(ready, count=1)
    mbarrier.wait(ready, 0)
    gl.store(x_ptr, 1.0)
