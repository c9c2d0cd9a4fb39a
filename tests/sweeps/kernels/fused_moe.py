"""The product of tokens, sorted by expert, with the weights of their experts."""

import triton
import triton.language as tl


@triton.jit
def fused(
    a_bytes,
    b_bytes,
    c_ptr,
    a_scale_ptr,
    b_scale_ptr,
    weights_ptr,
    tokens_ptr,
    experts_ptr,
    padded_ptr,
    N,
    K,
    VALID,
    DTYPE: tl.constexpr,
    TOP_K: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    a_ptr, b_ptr = a_bytes.to(tl.pointer_type(DTYPE)), b_bytes.to(tl.pointer_type(DTYPE))
    padded = tl.load(padded_ptr)
    down, across = tl.cdiv(padded, BLOCK_SIZE_M), tl.cdiv(N, BLOCK_SIZE_N)
    pid = tl.program_id(0)
    first = pid // (GROUP_SIZE_M * across) * GROUP_SIZE_M
    high = min(down - first, GROUP_SIZE_M)
    row = first + pid % (GROUP_SIZE_M * across) % high
    column = pid % (GROUP_SIZE_M * across) // high
    if row * BLOCK_SIZE_M >= padded:
        return
    tokens = tl.load(tokens_ptr + row * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)).to(tl.int64)
    inside = tokens < VALID
    expert = tl.load(experts_ptr + row).to(tl.int64)
    columns = (column * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    inner = tl.arange(0, BLOCK_SIZE_K)
    a_tile = a_ptr + (tokens // TOP_K)[:, None] * K + inner[None, :]
    b_tile = b_ptr + expert * N * K + columns[None, :] * K + inner[:, None]
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_SIZE_K):
        a = tl.load(a_tile, mask=inside[:, None] & (inner[None, :] < K - k), other=0.0)
        b = tl.load(b_tile, mask=inner[:, None] < K - k, other=0.0)
        total += tl.dot(a, b)
        a_tile += BLOCK_SIZE_K
        b_tile += BLOCK_SIZE_K
    weight = tl.load(weights_ptr + tokens, mask=inside, other=0.0)
    total *= tl.load(a_scale_ptr) * tl.load(b_scale_ptr + expert) * weight[:, None]
    out = column * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    at = c_ptr + tokens[:, None] * N + out[None, :]
    tl.store(at, total.to(c_ptr.dtype.element_ty), mask=inside[:, None] & (out[None, :] < N))
