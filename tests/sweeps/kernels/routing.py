"""The router of a mixture of experts: the best experts of each token, their weights, and how often each was chosen."""

import triton
import triton.language as tl


@triton.jit
def route(
    logits_ptr,
    weights_ptr,
    chosen_ptr,
    counts_ptr,
    TOKENS,
    EXPERTS: tl.constexpr,
    TOPK: tl.constexpr,
    ROWS: tl.constexpr,
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    experts = tl.arange(0, EXPERTS)
    inside = rows[:, None] < TOKENS
    logits = tl.load(logits_ptr + rows[:, None] * EXPERTS + experts[None, :], mask=inside, other=0.0).to(tl.float32)
    grown = tl.exp(logits - tl.max(logits, 1)[:, None])
    shares = grown / tl.sum(grown, 1)[:, None]
    # Shares are positive: their bits are in their order, above the number of the expert.
    keys = (shares.to(tl.uint32, bitcast=True).to(tl.uint64) << 32) | experts[None, :].to(tl.uint64)
    best = tl.topk(keys, TOPK)
    chosen = (best & 0xFFFFFFFF).to(tl.int32)
    weights = (best >> 32).to(tl.uint32).to(tl.float32, bitcast=True)
    weights = weights / tl.sum(weights, 1)[:, None]
    at = rows[:, None] * TOPK + tl.arange(0, TOPK)[None, :]
    tl.store(chosen_ptr + at, chosen, mask=inside)
    tl.store(weights_ptr + at, weights.to(weights_ptr.dtype.element_ty), mask=inside)
    counts = tl.histogram(tl.reshape(chosen, (ROWS * TOPK,)), EXPERTS)
    tl.atomic_add(counts_ptr + experts, counts.to(counts_ptr.dtype.element_ty))
