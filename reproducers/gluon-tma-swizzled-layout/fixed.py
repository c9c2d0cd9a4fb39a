"""The tile has the descriptor's layout."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

# Its name since 3.8; before, the longer one.
async_load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared


@gluon.jit
def fetch(desc, y_ptr, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(gl.float16, [M, N], desc.layout)
    ready = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(ready, count=1)
    mbarrier.expect(ready, desc.block_type.nbytes)
    async_load(desc, [0, 0], ready, tile)
    mbarrier.wait(ready, 0)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    gl.store(y_ptr + rows * N + columns, tile.load(layout))
