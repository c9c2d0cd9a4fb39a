"""A product on CDNA 4 whose tiles are copied to LDS without registers, a ring of buffers ahead."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import cdna4


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
    PHASES: gl.constexpr,
    BUFFERS: gl.constexpr,
):
    across: gl.constexpr = BK // VECTOR
    load: gl.constexpr = gl.BlockedLayout([1, VECTOR], [64 // across, across], [gl.num_warps(), 1], [1, 0])
    staged: gl.constexpr = gl.SwizzledSharedLayout(VECTOR, 1, PHASES, [1, 0])
    result: gl.constexpr = gl.amd.AMDMFMALayout(4, [32, 32, 16], True, [2, gl.num_warps() // 2])
    a_rows = gl.program_id(0) * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, load))
    b_rows = gl.program_id(1) * BN + gl.arange(0, BN, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, BK, layout=gl.SliceLayout(0, load))
    a_at = a_rows[:, None] * K + inner[None, :]
    b_at = b_rows[:, None] * K + inner[None, :]
    a_shared = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [BUFFERS, BM, BK], staged)
    b_shared = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [BUFFERS, BN, BK], staged)
    for early in gl.static_range(BUFFERS - 1):
        cdna4.async_copy.buffer_load_to_shared(a_shared.index(early), a_ptr, a_at + early * BK)
        cdna4.async_copy.buffer_load_to_shared(b_shared.index(early), b_ptr, b_at + early * BK)
        cdna4.async_copy.commit_group()
    total = gl.zeros([BM, BN], gl.float32, layout=result)
    steps = gl.cdiv(K, BK)
    for step in range(steps):
        ahead = step + BUFFERS - 1
        cdna4.async_copy.buffer_load_to_shared(a_shared.index(ahead % BUFFERS), a_ptr, a_at + ahead * BK)
        cdna4.async_copy.buffer_load_to_shared(b_shared.index(ahead % BUFFERS), b_ptr, b_at + ahead * BK)
        cdna4.async_copy.commit_group()
        cdna4.async_copy.wait_group(BUFFERS - 1)
        a = a_shared.index(step % BUFFERS).load(gl.DotOperandLayout(0, result, 8))
        b = b_shared.index(step % BUFFERS).permute([1, 0]).load(gl.DotOperandLayout(1, result, 8))
        total = cdna4.mfma(a, b, total)
    c_rows = gl.program_id(0) * BM + gl.arange(0, BM, layout=gl.SliceLayout(1, result))
    c_columns = gl.program_id(1) * BN + gl.arange(0, BN, layout=gl.SliceLayout(0, result))
    cdna4.buffer_store(total.to(c_ptr.dtype.element_ty), c_ptr, c_rows[:, None] * N + c_columns[None, :])
