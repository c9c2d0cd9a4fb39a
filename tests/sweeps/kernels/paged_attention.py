"""Decoding attention over a paged cache: the heads of a group share the keys of each page."""

import triton
import triton.language as tl


@triton.jit
def decode(
    q_ptr,
    k_bytes,
    v_bytes,
    pages_ptr,
    out_ptr,
    LENGTH,
    CACHE: tl.constexpr,
    HEAD: tl.constexpr,
    GROUP: tl.constexpr,
    PAGE: tl.constexpr,
):
    k_ptr, v_ptr = k_bytes.to(tl.pointer_type(CACHE)), v_bytes.to(tl.pointer_type(CACHE))
    heads, features, slots = tl.arange(0, GROUP), tl.arange(0, HEAD), tl.arange(0, PAGE)
    first = tl.program_id(0) * GROUP
    q = tl.load(q_ptr + (first + heads)[:, None] * HEAD + features[None, :])
    largest = tl.full((GROUP,), float("-inf"), tl.float32)
    weight = tl.zeros((GROUP,), tl.float32)
    result = tl.zeros((GROUP, HEAD), tl.float32)
    for number in range(tl.cdiv(LENGTH, PAGE)):
        page = tl.load(pages_ptr + number).to(tl.int64) * PAGE
        inside = number * PAGE + slots < LENGTH
        k = tl.load(k_ptr + (page + slots)[None, :] * HEAD + features[:, None], mask=inside[None, :], other=0.0)
        scores = tl.where(inside[None, :], tl.dot(q, k.to(q.dtype)), float("-inf"))
        higher = tl.maximum(largest, tl.max(scores, 1))
        shares = tl.exp2(scores - higher[:, None])
        factor = tl.exp2(largest - higher)
        weight = weight * factor + tl.sum(shares, 1)
        v = tl.load(v_ptr + (page + slots)[:, None] * HEAD + features[None, :], mask=inside[:, None], other=0.0)
        result = tl.dot(shares.to(q.dtype), v.to(q.dtype), result * factor[:, None])
        largest = higher
    tl.store(out_ptr + (first + heads)[:, None] * HEAD + features[None, :], (result / weight[:, None]).to(q.dtype))
