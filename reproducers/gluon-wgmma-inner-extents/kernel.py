"""The second operand is seen as 128 x 32; the first has 64 columns."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, warpgroup_mma


@gluon.jit
def tile_dot(a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    load: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    result: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, K, layout=gl.SliceLayout(1, load))
    a = gl.load(a_ptr + rows[:, None] * K + gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + inner[:, None] * N + gl.arange(0, N, layout=gl.SliceLayout(0, load))[None, :])
    a_shared = gl.allocate_shared_memory(a.dtype, [M, K], gl.NVMMASharedLayout(128, 16, 2), a)
    b_shared = gl.allocate_shared_memory(b.dtype, [K, N], gl.NVMMASharedLayout(128, 16, 2), b)
    fence_async_shared()
    c = warpgroup_mma(a_shared, b_shared.reshape([2 * K, N // 2]), gl.zeros([M, N], gl.float32, layout=result), is_async=False)
    c_rows = gl.arange(0, M, layout=gl.SliceLayout(1, result))
    c_columns = gl.arange(0, N, layout=gl.SliceLayout(0, result))
    gl.store(c_ptr + c_rows[:, None] * N + c_columns[None, :], c)
