"""Attention forward over one head, with the softmax kept online."""

import triton
import triton.language as tl


@triton.jit
def forward(q_ptr, k_ptr, v_ptr, out_ptr, LENGTH, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.program_id(1) * LENGTH * D
    features = tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + features[None, :])
    largest = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    for start in range(0, LENGTH, BN):
        keys = start + tl.arange(0, BN)
        k = tl.load(k_ptr + head + keys[None, :] * D + features[:, None])
        scores = tl.dot(q, k) * scale
        higher = tl.maximum(largest, tl.max(scores, 1))
        shares = tl.exp2(scores - higher[:, None])
        factor = tl.exp2(largest - higher)
        weight = weight * factor + tl.sum(shares, 1)
        v = tl.load(v_ptr + head + keys[:, None] * D + features[None, :])
        result = tl.dot(shares.to(q.dtype), v, result * factor[:, None])
        largest = higher
    out = (result / weight[:, None]).to(q.dtype)
    tl.store(out_ptr + head + rows[:, None] * D + features[None, :], out)
