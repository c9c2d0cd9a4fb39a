"""Kernels that ask for what a target may not have."""

import triton
import triton.language as tl


@triton.jit
def dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b, input_precision=PRECISION))


@triton.jit
def block_scaled(a_ptr, b_ptr, scale_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k, block = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    a_scale = tl.load(scale_ptr + m[:, None] * (K // 32) + block[None, :])
    b_scale = tl.load(scale_ptr + n[:, None] * (K // 32) + block[None, :])
    c = tl.dot_scaled(a, a_scale, "e5m2", b, b_scale, "e5m2")
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


@triton.jit
def specialized(a_desc, b_desc, c_desc, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    c = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        c = tl.dot(a_desc.load([m, k]), b_desc.load([n, k]).T, c)
    c_desc.store([m, n], c.to(tl.float16))
