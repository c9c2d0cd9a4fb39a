"""A matmul of fp16 activations by int4 weights, split along K. The weights are taken apart by inline assembly."""

import triton
import triton.language as tl


@triton.jit
def unpacked(packed, shift):
    """The four bits of each word that begin at ``shift``, as an integer from -8 to 7."""
    raised = tl.inline_asm_elementwise(
        "bfe.s4 $0, $1, $2, 4;", "=r,r,r", [packed, shift], dtype=tl.int32, is_pure=True, pack=1
    )
    return raised


@triton.jit
def scaled(weights, scales_ptr, zeros_ptr, group, columns, N, HAS_ZEROS: tl.constexpr):
    scale = tl.load(scales_ptr + group * N + columns, mask=columns < N, other=1.0)
    values = weights.to(tl.float32)
    if HAS_ZEROS:
        zero = tl.load(zeros_ptr + group * N + columns, mask=columns < N, other=0.0)
        values = values - zero[None, :].to(tl.float32)
    return (values * scale[None, :].to(tl.float32)).to(tl.float16)


@triton.jit
def span(pid, K, SPLIT: tl.constexpr, BLOCK_K: tl.constexpr):
    """First and last step along K of one of the splits."""
    steps = tl.cdiv(K, BLOCK_K)
    each = tl.cdiv(steps, SPLIT)
    return pid * each, tl.minimum(steps, (pid + 1) * each)


@triton.jit
def int4_matmul(
    x_ptr,
    packed_ptr,
    scales_ptr,
    zeros_ptr,
    bias_ptr,
    out_ptr,
    M,
    N,
    K,
    stride_xm,
    stride_pk,
    stride_om,
    GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    SPLIT: tl.constexpr,
    HAS_ZEROS: tl.constexpr,
    HAS_BIAS: tl.constexpr,
):
    tile = tl.program_id(0)
    split = tl.program_id(1)
    wide = tl.cdiv(N, BLOCK_N)
    rows = tile // wide * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile % wide * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)

    accumulator = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    first, last = span(split, K, SPLIT, BLOCK_K)
    for step in range(first, last):
        depth = step * BLOCK_K + inner
        x = tl.load(
            x_ptr + rows[:, None] * stride_xm + depth[None, :],
            mask=(rows[:, None] < M) & (depth[None, :] < K),
            other=0.0,
        )
        # Eight weights to a word, along K.
        words = tl.load(
            packed_ptr + (depth // 8)[:, None] * stride_pk + columns[None, :],
            mask=(depth[:, None] < K) & (columns[None, :] < N),
            other=0,
        )
        shift = tl.broadcast_to(((depth % 8) * 4)[:, None], [BLOCK_K, BLOCK_N])
        weights = scaled(unpacked(words, shift), scales_ptr, zeros_ptr, step * BLOCK_K // GROUP, columns, N, HAS_ZEROS)
        accumulator = tl.dot(x, weights, accumulator)

    if HAS_BIAS:
        # Of one split alone: the others are added to it.
        if split == 0:
            bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0)
            accumulator += bias[None, :].to(tl.float32)

    addresses = out_ptr + rows[:, None] * stride_om + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    if SPLIT == 1:
        tl.store(addresses, accumulator.to(tl.float16), mask=inside)
    else:
        tl.atomic_add(addresses, accumulator.to(tl.float16), mask=inside, sem="relaxed")
