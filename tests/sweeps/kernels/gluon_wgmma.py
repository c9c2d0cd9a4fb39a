"""A tile multiplied by wgmma from shared memory whose swizzle and instruction shape the kernel names."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, warpgroup_mma


@gluon.jit
def tile_dot(
    a_ptr,
    b_ptr,
    c_ptr,
    M: gl.constexpr,
    N: gl.constexpr,
    K: gl.constexpr,
    SWIZZLE: gl.constexpr,
    INSTR_N: gl.constexpr,
    WARPS_M: gl.constexpr,
    COPIES: gl.constexpr,
):
    load: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    result: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [WARPS_M, gl.num_warps() // WARPS_M], [16, INSTR_N, 16])
    staged: gl.constexpr = gl.NVMMASharedLayout(SWIZZLE, 16, 2)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, K, layout=gl.SliceLayout(1, load))
    a = gl.load(a_ptr + rows[:, None] * K + gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + inner[:, None] * N + gl.arange(0, N, layout=gl.SliceLayout(0, load))[None, :])
    a_shared = gl.allocate_shared_memory(a.dtype, [COPIES, M, K], staged)
    a_shared.index(0).store(a)
    b_shared = gl.allocate_shared_memory(b.dtype, [K, N], staged, b)
    fence_async_shared()
    start = gl.zeros([M, N], gl.float32, layout=result)
    c = warpgroup_mma(a_shared.index(0), b_shared, start, is_async=False)
    c_rows = gl.arange(0, M, layout=gl.SliceLayout(1, result))
    c_columns = gl.arange(0, N, layout=gl.SliceLayout(0, result))
    gl.store(c_ptr + c_rows[:, None] * N + c_columns[None, :], c)
