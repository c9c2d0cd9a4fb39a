"""Attention over a paged cache as it lies in a project: an inner loop of its own, sliding windows, sinks, the call."""

import math

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
SUPPORTED_HEADS = (64, 96, 128, 256)


def reference(q, k, v, lengths, scale):
    outputs = []
    for index, length in enumerate(lengths):
        outputs.append(F.scaled_dot_product_attention(q[index], k[index, :length], v[index, :length], scale=scale))
    return torch.stack(outputs)


@triton.jit
def masked_scores(scores, rows, keys, length, window, CAUSAL: tl.constexpr, WINDOW: tl.constexpr):
    seen = keys[None, :] < length
    if CAUSAL:
        seen = seen & (rows[:, None] >= keys[None, :])
    if WINDOW:
        seen = seen & (rows[:, None] - keys[None, :] < window)
    return tl.where(seen, scores, float("-inf"))


@triton.jit
def rescaled(scores, maximum, total, accumulator):
    new_maximum = tl.maximum(maximum, tl.max(scores, 1))
    pivot = tl.where(new_maximum == float("-inf"), 0.0, new_maximum)
    weights = tl.math.exp2(scores - pivot[:, None])
    factor = tl.math.exp2(maximum - pivot)
    total = total * factor + tl.sum(weights, 1)
    accumulator = accumulator * factor[:, None]
    return weights, new_maximum, total, accumulator


@triton.jit
def paged_attention(
    q_ptr,
    k_cache_ptr,
    v_cache_ptr,
    out_ptr,
    lse_ptr,
    sink_ptr,
    block_table_ptr,
    lengths_ptr,
    starts_ptr,
    k_scale_ptr,
    v_scale_ptr,
    scale,
    soft_cap,
    window,
    page_size,
    max_pages,
    stride_q_token,
    stride_q_head,
    stride_q_dim,
    stride_k_page,
    stride_k_head,
    stride_k_slot,
    stride_k_dim,
    stride_v_page,
    stride_v_head,
    stride_v_slot,
    stride_v_dim,
    stride_o_token,
    stride_o_head,
    stride_o_dim,
    GROUP: tl.constexpr,
    HEAD: tl.constexpr,
    HEAD_PADDED: tl.constexpr,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    SINKS: tl.constexpr,
    SOFT_CAP: tl.constexpr,
    QUANTIZED: tl.constexpr,
):
    sequence = tl.program_id(0)
    head = tl.program_id(1)
    block = tl.program_id(2)
    kv_head = head // GROUP
    start = tl.load(starts_ptr + sequence)
    queries = tl.load(starts_ptr + sequence + 1) - start
    length = tl.load(lengths_ptr + sequence)
    if block * BLOCK_Q >= queries:
        return

    dims = tl.arange(0, HEAD_PADDED)
    rows = block * BLOCK_Q + tl.arange(0, BLOCK_Q)
    slots = tl.arange(0, BLOCK_K)
    dims_inside = dims < HEAD
    rows_inside = rows < queries
    q_offsets = (start + rows[:, None]) * stride_q_token + head * stride_q_head + dims[None, :] * stride_q_dim
    q = tl.load(q_ptr + q_offsets, mask=rows_inside[:, None] & dims_inside[None, :], other=0.0)

    maximum = tl.full((BLOCK_Q,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((BLOCK_Q,), dtype=tl.float32)
    accumulator = tl.zeros((BLOCK_Q, HEAD_PADDED), dtype=tl.float32)
    if SINKS:
        maximum = tl.zeros_like(maximum) + tl.load(sink_ptr + head).to(tl.float32) * LOG2E
        total += 1.0
    positions = length - queries + rows

    first = 0
    if WINDOW:
        first = tl.maximum(length - queries + block * BLOCK_Q - window + 1, 0) // BLOCK_K * BLOCK_K
    last = length
    if CAUSAL:
        last = tl.minimum(length - queries + (block + 1) * BLOCK_Q, length)
    for position in range(first, last, BLOCK_K):
        position = tl.multiple_of(position, BLOCK_K)
        keys = position + slots
        keys_inside = keys < length
        pages = tl.load(block_table_ptr + sequence * max_pages + keys // page_size, mask=keys_inside, other=0).to(
            tl.int64
        )
        k_offsets = (
            pages[None, :] * stride_k_page
            + kv_head * stride_k_head
            + (keys % page_size)[None, :] * stride_k_slot
            + dims[:, None] * stride_k_dim
        )
        k = tl.load(k_cache_ptr + k_offsets, mask=dims_inside[:, None] & keys_inside[None, :], other=0.0)
        if QUANTIZED:
            k = (k.to(tl.float32) * tl.load(k_scale_ptr)).to(q.dtype)
        scores = tl.dot(q, k) * (scale * LOG2E)
        if SOFT_CAP:
            scores = soft_cap * (2.0 * tl.sigmoid(2.0 * scores / soft_cap) - 1.0)
        scores = masked_scores(scores, positions, keys, length, window, CAUSAL, WINDOW)
        weights, maximum, total, accumulator = rescaled(scores, maximum, total, accumulator)
        v_offsets = (
            pages[:, None] * stride_v_page
            + kv_head * stride_v_head
            + (keys % page_size)[:, None] * stride_v_slot
            + dims[None, :] * stride_v_dim
        )
        v = tl.load(v_cache_ptr + v_offsets, mask=keys_inside[:, None] & dims_inside[None, :], other=0.0)
        if QUANTIZED:
            v = (v.to(tl.float32) * tl.load(v_scale_ptr)).to(q.dtype)
        accumulator += tl.dot(weights.to(v.dtype), v)

    accumulator = accumulator / total[:, None]
    out_offsets = (start + rows[:, None]) * stride_o_token + head * stride_o_head + dims[None, :] * stride_o_dim
    tl.store(
        out_ptr + out_offsets,
        accumulator.to(out_ptr.dtype.element_ty),
        mask=rows_inside[:, None] & dims_inside[None, :],
    )
    tl.store(lse_ptr + start + rows, maximum + tl.math.log2(total), mask=rows_inside)


def attend(q, k_cache, v_cache, block_table, lengths, starts, scale=None, window=0, sinks=None):
    heads, head = q.shape[1:]
    if head not in SUPPORTED_HEADS:
        raise ValueError(f"head dimension {head} is not one of {SUPPORTED_HEADS}")
    out, lse = torch.empty_like(q), torch.empty(q.shape[0], device=q.device)
    one = torch.ones(1, device=q.device)
    block_q = 64 if head <= 128 else 32
    grid = (len(lengths), heads, triton.cdiv(int(starts.diff().max()), block_q))
    paged_attention[grid](
        q,
        k_cache,
        v_cache,
        out,
        lse,
        sinks if sinks is not None else one,
        block_table,
        lengths,
        starts,
        one,
        one,
        scale or 1 / math.sqrt(head),
        0.0,
        window,
        k_cache.shape[2],
        block_table.shape[1],
        *q.stride(),
        *k_cache.stride(),
        *v_cache.stride(),
        *out.stride(),
        GROUP=heads // k_cache.shape[1],
        HEAD=head,
        HEAD_PADDED=triton.next_power_of_2(head),
        BLOCK_Q=block_q,
        BLOCK_K=64,
        CAUSAL=True,
        WINDOW=window > 0,
        SINKS=sinks is not None,
        SOFT_CAP=False,
        QUANTIZED=False,
        num_warps=4,
        num_stages=2,
    )
    return out, lse
