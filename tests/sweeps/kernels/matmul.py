"""Matrix products by plain pointers; the element type is a constexpr, so that one axis sets it for both operands."""

import triton
import triton.language as tl


@triton.jit
def product(
    a_bytes,
    b_bytes,
    c_ptr,
    M,
    N,
    K,
    DTYPE: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    B_BY_COLUMNS: tl.constexpr,
):
    a_ptr = a_bytes.to(tl.pointer_type(DTYPE))
    b_ptr = b_bytes.to(tl.pointer_type(DTYPE))
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    a_tile = a_ptr + rows[:, None] * K + inner[None, :]
    if B_BY_COLUMNS:
        b_tile = b_ptr + inner[:, None] + columns[None, :] * K
    else:
        b_tile = b_ptr + inner[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
        a_tile += BK
        b_tile += BK if B_BY_COLUMNS else BK * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


@triton.jit
def small_product(a_bytes, b_bytes, c_ptr, DTYPE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """One tile without a loop, with the accumulator that the operands' type asks for."""
    a_ptr = a_bytes.to(tl.pointer_type(DTYPE))
    b_ptr = b_bytes.to(tl.pointer_type(DTYPE))
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], tl.dot(a, b).to(tl.float32))
