"""A matrix product of microscaled operands: blocks of 32 elements along K share a scale."""

import triton
import triton.language as tl


@triton.jit
def scaled(
    a_bytes, a_scales, b_bytes, b_scales, c_ptr, N, K, A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    a_packed: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    b_packed: tl.constexpr = 2 if B_FORMAT == "e2m1" else 1
    a_type: tl.constexpr = tl.bfloat16 if A_FORMAT == "bf16" else tl.uint8
    a_ptr = a_bytes.to(tl.pointer_type(a_type))
    b_ptr = b_bytes.to(tl.pointer_type(tl.uint8))
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    blocks = tl.arange(0, BK // 32)
    a_tile = a_ptr + rows[:, None] * K + tl.arange(0, BK // a_packed)[None, :]
    b_tile = b_ptr + tl.arange(0, BK // b_packed)[:, None] * N + columns[None, :]
    a_scale = a_scales + rows[:, None] * (K // 32) + blocks[None, :]
    b_scale = b_scales + columns[:, None] * (K // 32) + blocks[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(tl.cdiv(K, BK)):
        if A_FORMAT == "bf16":
            total = tl.dot_scaled(tl.load(a_tile), None, A_FORMAT, tl.load(b_tile), tl.load(b_scale), B_FORMAT, total)
        else:
            total = tl.dot_scaled(
                tl.load(a_tile), tl.load(a_scale), A_FORMAT, tl.load(b_tile), tl.load(b_scale), B_FORMAT, total
            )
        a_tile += BK // a_packed
        b_tile += BK // b_packed * N
        a_scale += BK // 32
        b_scale += BK // 32
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)
