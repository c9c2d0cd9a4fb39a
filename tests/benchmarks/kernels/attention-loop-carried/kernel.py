"""Flash attention, forward, with a sliding window and grouped heads. The running maximum changes its type."""

import math

import triton
import triton.language as tl

LOG2E = tl.constexpr(math.log2(math.e))


@triton.jit
def pid_to_tile(pid, heads, GROUP: tl.constexpr):
    head = pid % heads
    batch = pid // heads
    return batch, head, head // GROUP


@triton.jit
def load_tile(pointer, rows, columns, stride, limit, MASKED: tl.constexpr):
    addresses = pointer + rows[:, None] * stride + columns[None, :]
    if MASKED:
        return tl.load(addresses, mask=rows[:, None] < limit, other=0.0)
    else:
        return tl.load(addresses)


@triton.jit
def window(scores, rows, columns, length, WINDOW: tl.constexpr, CAUSAL: tl.constexpr):
    """Scores of keys that a query does not see are minus infinity."""
    inside = columns[None, :] < length
    if CAUSAL:
        inside = inside & (rows[:, None] >= columns[None, :])
    if WINDOW > 0:
        inside = inside & (rows[:, None] - columns[None, :] < WINDOW)
    return tl.where(inside, scores, float("-inf"))


@triton.jit
def rescaled(accumulator, total, before, now):
    alpha = tl.exp2(before - now)
    return accumulator * alpha[:, None], total * alpha


@triton.jit
def attention_forward(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    lse_ptr,
    sink_ptr,
    stride_qb,
    stride_qh,
    stride_qm,
    stride_kb,
    stride_kh,
    stride_kn,
    heads,
    length,
    scale,
    GROUP: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    CAUSAL: tl.constexpr,
    WINDOW: tl.constexpr,
    HAS_SINK: tl.constexpr,
):
    block = tl.program_id(0)
    batch, head, kv_head = pid_to_tile(tl.program_id(1), heads, GROUP)
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    depth = tl.arange(0, HEAD_DIM)
    q_base = q_ptr + batch.to(tl.int64) * stride_qb + head * stride_qh
    k_base = k_ptr + batch.to(tl.int64) * stride_kb + kv_head * stride_kh
    v_base = v_ptr + batch.to(tl.int64) * stride_kb + kv_head * stride_kh

    q = load_tile(q_base, rows, depth, stride_qm, length, MASKED=True)
    q = (q * (scale * LOG2E)).to(tl.float16)

    # The sink is a key that every query sees and that has no value.
    if HAS_SINK:
        sink = tl.load(sink_ptr + head)
        highest = tl.full([BLOCK_M], 0.0, tl.float16) + sink
        total = tl.full([BLOCK_M], 1.0, tl.float32)
    else:
        highest = tl.full([BLOCK_M], float("-inf"), tl.float32)
        total = tl.zeros([BLOCK_M], tl.float32)
    accumulator = tl.zeros([BLOCK_M, HEAD_DIM], tl.float32)

    first = 0
    if WINDOW > 0:
        first = tl.maximum(0, block * BLOCK_M - WINDOW) // BLOCK_N * BLOCK_N
    last = length
    if CAUSAL:
        last = tl.minimum(length, (block + 1) * BLOCK_M)

    for start in tl.range(first, last, BLOCK_N, num_stages=2):
        columns = start + tl.arange(0, BLOCK_N)
        k = load_tile(k_base, columns, depth, stride_kn, length, MASKED=True)
        v = load_tile(v_base, columns, depth, stride_kn, length, MASKED=True)
        scores = window(tl.dot(q, k.T), rows, columns, length, WINDOW, CAUSAL)
        above = tl.maximum(highest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - above[:, None])
        accumulator, total = rescaled(accumulator, total, highest, above)
        accumulator = tl.dot(weights.to(tl.float16), v, accumulator)
        total += tl.sum(weights, axis=1)
        highest = above

    total = tl.where(total == 0.0, 1.0, total)
    accumulator = accumulator / total[:, None]
    out_base = out_ptr + batch.to(tl.int64) * stride_qb + head * stride_qh
    addresses = out_base + rows[:, None] * stride_qm + depth[None, :]
    tl.store(addresses, accumulator.to(tl.float16), mask=rows[:, None] < length)
    tl.store(lse_ptr + tl.program_id(1) * length + rows, highest + tl.log2(total), mask=rows < length)
