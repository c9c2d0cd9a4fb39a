"""Stream-K: each program has the same number of steps, which may be parts of several tiles, and adds its sums."""

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
    STEPS,
    DTYPE: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    a_ptr, b_ptr = a_bytes.to(tl.pointer_type(DTYPE)), b_bytes.to(tl.pointer_type(DTYPE))
    across, deep = tl.cdiv(N, BN), tl.cdiv(K, BK)
    step = tl.program_id(0) * STEPS
    last = min(step + STEPS, tl.cdiv(M, BM) * across * deep)
    while step < last:
        tile, first = step // deep, step % deep
        end = min(deep, first + last - step)
        rows = tile // across * BM + tl.arange(0, BM)
        columns = tile % across * BN + tl.arange(0, BN)
        inner = first * BK + tl.arange(0, BK)
        a_tile = a_ptr + (rows % M)[:, None] * K + inner[None, :]
        b_tile = b_ptr + inner[:, None] * N + (columns % N)[None, :]
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for _ in range(first, end):
            total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
            a_tile += BK
            b_tile += BK * N
        at = c_ptr + rows[:, None] * N + columns[None, :]
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        if first == 0 and end == deep:
            tl.store(at, total.to(c_ptr.dtype.element_ty), mask=inside)
        else:
            tl.atomic_add(at, total.to(c_ptr.dtype.element_ty), mask=inside)
        step += end - first
