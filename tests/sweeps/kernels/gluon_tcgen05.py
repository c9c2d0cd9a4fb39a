"""A tile multiplied by tcgen05 from shared memory into one of several accumulators in tensor memory."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    tcgen05_mma,
)
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier


@gluon.jit
def tile_dot(
    a_ptr,
    b_ptr,
    c_ptr,
    M: gl.constexpr,
    N: gl.constexpr,
    K: gl.constexpr,
    SWIZZLE: gl.constexpr,
    BLOCK_M: gl.constexpr,
    BLOCK_N: gl.constexpr,
    COPIES: gl.constexpr,
):
    load: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    staged: gl.constexpr = gl.NVMMASharedLayout(SWIZZLE, 16, 2)
    result: gl.constexpr = TensorMemoryLayout([BLOCK_M, BLOCK_N], col_stride=1)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, K, layout=gl.SliceLayout(1, load))
    a = gl.load(a_ptr + rows[:, None] * K + gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + inner[:, None] * N + gl.arange(0, N, layout=gl.SliceLayout(0, load))[None, :])
    a_shared = gl.allocate_shared_memory(a.dtype, [COPIES, M, K], staged)
    b_shared = gl.allocate_shared_memory(b.dtype, [COPIES, K, N], staged)
    a_shared.index(0).store(a)
    b_shared.index(0).store(b)
    fence_async_shared()
    sums = allocate_tensor_memory(gl.float32, [COPIES, M, N], result)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    tcgen05_mma(a_shared.index(0), b_shared.index(0), sums.index(0), use_acc=False, mbarriers=[barrier])
    mbarrier.wait(barrier, 0)
    c = gl.convert_layout(sums.index(0).load(), load)
    c_rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    c_columns = gl.arange(0, N, layout=gl.SliceLayout(0, load))
    gl.store(c_ptr + c_rows[:, None] * N + c_columns[None, :], c)
