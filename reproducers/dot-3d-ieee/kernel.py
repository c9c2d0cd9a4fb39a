"""A product of three dimensions in fp32 without tensor cores."""

import triton
import triton.language as tl


@triton.jit
def batched(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    b = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a_ptr + b * M * K + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b_ptr + b * K * N + k[None, :, None] * N + n[None, None, :])
    z = tl.dot(x, y, input_precision="ieee")
    tl.store(c_ptr + b * M * N + m[None, :, None] * N + n[None, None, :], z)
