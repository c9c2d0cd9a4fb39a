"""A matrix multiplication as it lies in a project: configurations, a grouped grid, an epilogue, the call, a check."""

import argparse
import os

import torch
import triton
import triton.language as tl

DEVICE = "cuda"
PRECISE = os.environ.get("GEMM_PRECISE", "0") == "1"
ACTIVATIONS = ("none", "relu", "silu", "gelu")


def capability():
    return torch.cuda.get_device_capability() if torch.cuda.is_available() else (8, 0)


def configurations():
    sizes = [(128, 256, 64), (64, 256, 32), (128, 128, 32), (128, 64, 32), (64, 128, 32), (64, 32, 32)]
    return [
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8}, num_stages=stages, num_warps=warps)
        for m, n, k in sizes
        for stages in (3, 4)
        for warps in (4, 8)
    ]


def fits(configs, named_args, **kwargs):
    limit = 227 * 1024 if capability() >= (9, 0) else 99 * 1024
    size = named_args["a_ptr"].element_size()

    def used(config):
        tile = config.kwargs["BLOCK_K"] * (config.kwargs["BLOCK_M"] + config.kwargs["BLOCK_N"])
        return tile * size * config.num_stages

    return [config for config in configs if used(config) <= limit]


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def gelu(x):
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def activate(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "silu":
        x = silu(x)
    elif ACTIVATION == "gelu":
        x = gelu(x)
    elif ACTIVATION == "relu":
        x = tl.maximum(x, 0.0)
    return x


@triton.jit
def tile_of(pid, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    blocks_m = tl.cdiv(M, BLOCK_M)
    blocks_n = tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * blocks_n
    first_m = (pid // in_group) * GROUP_M
    height = min(blocks_m - first_m, GROUP_M)
    tile_m = first_m + (pid % in_group) % height
    tile_n = (pid % in_group) // height
    return tile_m, tile_n


@triton.autotune(configs=configurations(), key=["M", "N", "K"], prune_configs_by={"early_config_prune": fits})
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})
@triton.jit
def gemm(
    a_ptr,
    b_ptr,
    c_ptr,
    bias_ptr,
    residual_ptr,
    scale_a_ptr,
    scale_b_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    stride_rm,
    stride_rn,
    alpha,
    beta,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
    EVEN_K: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    HAS_RESIDUAL: tl.constexpr,
    SCALED: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    """C = activation(alpha * A @ B + bias) + beta * residual."""
    pid = tl.program_id(axis=0)
    tile_m, tile_n = tile_of(pid, M, N, BLOCK_M, BLOCK_N, GROUP_M)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    rows_in = rows % M
    columns_in = columns % N
    # The pointers of the first tiles; they are advanced with the loop.
    a_ptrs = a_ptr + (rows_in[:, None] * stride_am + inner[None, :] * stride_ak)
    b_ptrs = b_ptr + (inner[:, None] * stride_bk + columns_in[None, :] * stride_bn)

    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        if EVEN_K:
            a = tl.load(a_ptrs)
            b = tl.load(b_ptrs)
        else:
            left = K - k * BLOCK_K
            a = tl.load(a_ptrs, mask=inner[None, :] < left, other=0.0)
            b = tl.load(b_ptrs, mask=inner[:, None] < left, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk

    accumulator *= alpha
    if SCALED:
        scale_a = tl.load(scale_a_ptr + rows, mask=rows < M, other=1.0)
        scale_b = tl.load(scale_b_ptr + columns, mask=columns < N, other=1.0)
        accumulator = accumulator * scale_a[:, None] * scale_b[None, :]
    if HAS_BIAS:
        bias = tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        accumulator += bias[None, :]
    accumulator = activate(accumulator, ACTIVATION)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    if HAS_RESIDUAL:
        r_ptrs = residual_ptr + rows[:, None] * stride_rm + columns[None, :] * stride_rn
        accumulator += beta * tl.load(r_ptrs, mask=inside, other=0.0).to(tl.float32)
    c_ptrs = c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :]
    tl.store(c_ptrs, accumulator.to(c_ptr.dtype.element_ty), mask=inside)


class Gemm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b, bias=None, residual=None, alpha=1.0, beta=1.0, activation="none"):
        if activation not in ACTIVATIONS:
            raise ValueError(f"unknown activation: {activation}")
        (M, K), N = a.shape, b.shape[1]
        c = torch.empty((M, N), device=a.device, dtype=a.dtype)
        grid = lambda meta: (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
        r = residual if residual is not None else c
        gemm[grid](
            a,
            b,
            c,
            bias if bias is not None else c,
            r,
            c,
            c,
            M,
            N,
            K,
            a.stride(0),
            a.stride(1),
            b.stride(0),
            b.stride(1),
            c.stride(0),
            c.stride(1),
            r.stride(0),
            r.stride(1),
            alpha,
            beta,
            HAS_BIAS=bias is not None,
            HAS_RESIDUAL=residual is not None,
            SCALED=False,
            ACTIVATION=activation,
        )
        ctx.save_for_backward(a, b)
        return c

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad @ b.t(), a.t() @ grad, None, None, None, None, None


def check(size):
    torch.manual_seed(0)
    a = torch.randn((size, size), device=DEVICE, dtype=torch.float16)
    b = torch.randn((size, size), device=DEVICE, dtype=torch.float16)
    torch.testing.assert_close(Gemm.apply(a, b), a @ b, atol=1e-2, rtol=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=512)
    check(parser.parse_args().size)
