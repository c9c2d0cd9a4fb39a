"""A GEMM with a fused epilogue, its loop warp-specialized over plain pointer loads."""

import triton
import triton.language as tl


@triton.jit
def swizzled(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    """Tiles in an order that keeps what neighbours load in the L2 cache."""
    tall = tl.cdiv(M, BLOCK_M)
    wide = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * wide
    group = pid // width
    first = group * GROUP_M
    size = tl.minimum(tall - first, GROUP_M)
    return first + (pid % width) % size, (pid % width) // size


@triton.jit
def sigmoid(x):
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def activated(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "silu":
        return x * sigmoid(x)
    elif ACTIVATION == "relu":
        return tl.maximum(x, 0.0)
    elif ACTIVATION == "gelu":
        return x * sigmoid(1.702 * x)
    else:
        return x


@triton.jit
def gemm(
    a_ptr,
    b_ptr,
    c_ptr,
    bias_ptr,
    residual_ptr,
    scale_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    ACTIVATION: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr,
    SPECIALIZE: tl.constexpr,
):
    tile_m, tile_n = swizzled(tl.program_id(0), M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)

    # Rows beyond the end wrap around: what they give is never stored.
    a_rows = tl.max_contiguous(tl.multiple_of(rows % M, BLOCK_M), BLOCK_M)
    b_columns = tl.max_contiguous(tl.multiple_of(columns % N, BLOCK_N), BLOCK_N)
    a_addresses = a_ptr + a_rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_addresses = b_ptr + inner[:, None] * stride_bk + b_columns[None, :] * stride_bn

    accumulator = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for k in tl.range(0, tl.cdiv(K, BLOCK_K), warp_specialize=SPECIALIZE):
        left = K - k * BLOCK_K
        a = tl.load(a_addresses, mask=inner[None, :] < left, other=0.0)
        b = tl.load(b_addresses, mask=inner[:, None] < left, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_addresses += BLOCK_K * stride_ak
        b_addresses += BLOCK_K * stride_bk

    accumulator *= tl.load(scale_ptr)
    if HAS_BIAS:
        bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0)
        accumulator += bias[None, :].to(tl.float32)
    accumulator = activated(accumulator, ACTIVATION)

    inside = (rows[:, None] < M) & (columns[None, :] < N)
    places = rows[:, None] * stride_cm + columns[None, :] * stride_cn
    if HAS_RESIDUAL:
        residual = tl.load(residual_ptr + places, mask=inside, other=0.0)
        accumulator += residual.to(tl.float32)
    tl.store(c_ptr + places, accumulator.to(tl.float16), mask=inside)


def launch(a, b, c, bias, residual, scale, activation="silu"):
    """``c = activation(a @ b * scale + bias) + residual``."""
    M, K = a.shape
    N = b.shape[1]
    grid = (triton.cdiv(M, 128) * triton.cdiv(N, 128),)
    gemm[grid](
        a, b, c, bias, residual, scale, M, N, K,
        a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1),
        BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, ACTIVATION=activation,
        HAS_BIAS=bias is not None, HAS_RESIDUAL=residual is not None, SPECIALIZE=True,
    )  # fmt: skip
    return c
