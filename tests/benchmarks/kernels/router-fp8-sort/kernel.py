"""A router of a mixture of experts: softmax over the experts, the k-th largest as a threshold, and counts an expert."""

import triton
import triton.language as tl


@triton.jit
def row_softmax(x):
    shifted = x - tl.max(x, axis=1)[:, None]
    numerator = tl.exp(shifted)
    return numerator / tl.sum(numerator, axis=1)[:, None]


@triton.jit
def entropy(probabilities, inside):
    """Of each row, in nats."""
    logarithm = tl.log(tl.maximum(probabilities, 1e-20))
    return -tl.sum(tl.where(inside, probabilities * logarithm, 0.0), axis=1)


@triton.jit
def kth_largest(x, K: tl.constexpr, COLUMNS: tl.constexpr):
    ordered = tl.sort(x, descending=True)
    place = tl.arange(0, COLUMNS)
    kept = tl.where(place[None, :] == K - 1, ordered.to(tl.float32), float("-inf"))
    return tl.max(kept, axis=1)


@triton.jit
def jittered(logits, seed, offsets, AMOUNT: tl.constexpr):
    if AMOUNT > 0:
        noise = tl.rand(seed, offsets)
        return logits * (1.0 + (noise - 0.5) * AMOUNT)
    else:
        return logits


@triton.jit
def route(
    logits_ptr,
    bias_ptr,
    weights_ptr,
    mask_ptr,
    counts_ptr,
    entropy_ptr,
    loss_ptr,
    seed,
    tokens,
    experts,
    stride_token,
    stride_expert,
    temperature,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    TOP_K: tl.constexpr,
    JITTER: tl.constexpr,
    NORMALIZE: tl.constexpr,
    WITH_LOSS: tl.constexpr,
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    inside = (rows[:, None] < tokens) & (columns[None, :] < experts)
    offsets = rows[:, None] * stride_token + columns[None, :] * stride_expert

    stored = tl.load(logits_ptr + offsets, mask=inside)
    logits = tl.where(inside, stored.to(tl.float32), float("-inf"))
    logits = jittered(logits, seed, offsets, JITTER) / temperature
    bias = tl.load(bias_ptr + columns, mask=columns < experts, other=0.0)
    probabilities = row_softmax(logits + bias[None, :])

    # Ties are all kept: a token may go to more than TOP_K experts.
    threshold = kth_largest(stored, TOP_K, COLUMNS)
    chosen = (stored.to(tl.float32) >= threshold[:, None]) & inside
    weights = tl.where(chosen, probabilities, 0.0)
    if NORMALIZE:
        total = tl.sum(weights, axis=1)
        weights = weights / tl.where(total > 0.0, total, 1.0)[:, None]

    tl.store(weights_ptr + offsets, weights.to(tl.float16), mask=inside)
    tl.store(mask_ptr + offsets, chosen.to(tl.int8), mask=inside)
    tl.store(entropy_ptr + rows, entropy(probabilities, inside), mask=rows < tokens)

    # How many tokens went to each expert, over all programs.
    counts = tl.sum(chosen.to(tl.int32), axis=0)
    tl.atomic_add(counts_ptr + columns, counts, mask=columns < experts)
    if WITH_LOSS:
        share = tl.sum(tl.where(inside, probabilities, 0.0), axis=0) / tokens
        fraction = counts.to(tl.float32) / tokens
        loss = tl.sum(share * fraction) * experts
        z = tl.log(tl.sum(tl.exp(tl.where(inside, logits, -1e4)), axis=1))
        loss += 1e-3 * tl.sum(z * z) / tokens
        tl.atomic_add(loss_ptr, loss)
