"""The matmul whose shared memory is estimated: operands by pointer and by descriptor."""

import triton
import triton.language as tl


@triton.jit
def pointer(
    a_ptr, b_ptr, c_ptr, M, N, K, sa, sb, sc,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, B_NK: tl.constexpr, ACC: tl.constexpr, OUT: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * sa + inner[None, :]
    b_ptrs = b_ptr + columns[None, :] * sb + inner[:, None] if B_NK else b_ptr + inner[:, None] * sb + columns[None, :]
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc, out_dtype=ACC)
        a_ptrs += BK
        if B_NK:
            b_ptrs += BK
        else:
            b_ptrs += BK * sb
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * sc + columns[None, :], acc.to(OUT), mask=inside)


@triton.jit
def descriptor(
    a_desc, b_desc, c_desc, c_ptr, M, N, K, sc,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, B_NK: tl.constexpr, ACC: tl.constexpr, OUT: tl.constexpr,
    STORE: tl.constexpr,
):  # fmt: skip
    first_row = tl.program_id(0) * BM
    first_column = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=ACC)
    for k in range(tl.cdiv(K, BK)):
        a = a_desc.load([first_row, k * BK])
        b = b_desc.load([first_column, k * BK]).T if B_NK else b_desc.load([k * BK, first_column])
        acc = tl.dot(a, b, acc, out_dtype=ACC)
    if STORE:
        c_desc.store([first_row, first_column], acc.to(OUT))
    else:
        rows = first_row + tl.arange(0, BM)
        columns = first_column + tl.arange(0, BN)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(c_ptr + rows[:, None] * sc + columns[None, :], acc.to(OUT), mask=inside)
