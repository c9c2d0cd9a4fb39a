"""A product by mma.sync whose tiles are copied to shared memory by cp.async, a ring of buffers ahead."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy, mma_v2


@gluon.jit
def product(
    a_ptr,
    b_ptr,
    c_ptr,
    N,
    K,
    BM: gl.constexpr,
    BN: gl.constexpr,
    BK: gl.constexpr,
    VECTOR: gl.constexpr,
    WARPS_M: gl.constexpr,
    BUFFERS: gl.constexpr,
):
    across: gl.constexpr = min(32, BK // VECTOR)
    load: gl.constexpr = gl.BlockedLayout([1, VECTOR], [32 // across, across], [gl.num_warps(), 1], [1, 0])
    staged: gl.constexpr = gl.SwizzledSharedLayout(8, 1, 4, [1, 0])
    result: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [WARPS_M, gl.num_warps() // WARPS_M], [16, 8])
    a_rows = gl.program_id(0) * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, load))
    b_rows = gl.program_id(1) * BN + gl.arange(0, BN, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, BK, layout=gl.SliceLayout(0, load))
    a_at = a_ptr + a_rows[:, None] * K + inner[None, :]
    b_at = b_ptr + b_rows[:, None] * K + inner[None, :]
    a_shared = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [BUFFERS, BM, BK], staged)
    b_shared = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [BUFFERS, BN, BK], staged)
    for early in gl.static_range(BUFFERS - 1):
        async_copy.async_load(a_shared.index(early), a_at + early * BK)
        async_copy.async_load(b_shared.index(early), b_at + early * BK)
        async_copy.commit_group()
    total = gl.zeros([BM, BN], gl.float32, layout=result)
    for step in range(gl.cdiv(K, BK)):
        ahead = step + BUFFERS - 1
        async_copy.async_load(a_shared.index(ahead % BUFFERS), a_at + ahead * BK)
        async_copy.async_load(b_shared.index(ahead % BUFFERS), b_at + ahead * BK)
        async_copy.commit_group()
        async_copy.wait_group(BUFFERS - 1)
        gl.barrier()
        a = a_shared.index(step % BUFFERS).load(gl.DotOperandLayout(0, result, 2))
        b = b_shared.index(step % BUFFERS).permute([1, 0]).load(gl.DotOperandLayout(1, result, 2))
        total = mma_v2(a, b, total)
        gl.barrier()
    c_rows = gl.program_id(0) * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, result))
    c_columns = gl.program_id(1) * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, result))
    gl.store(c_ptr + c_rows[:, None] * N + c_columns[None, :], total.to(c_ptr.dtype.element_ty))
