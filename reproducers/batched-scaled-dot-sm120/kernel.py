"""Operands and scales have three dimensions."""

import triton
import triton.language as tl


@triton.jit
def scaled_dot(a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, G: tl.constexpr, M: tl.constexpr, K: tl.constexpr):
    group = tl.arange(0, G)[:, None, None]
    rows = tl.arange(0, M)[None, :, None]
    columns = tl.arange(0, M)[None, None, :]
    scales = group + rows * (K // 32) + tl.arange(0, K // 32)[None, None, :]
    a = tl.load(a_ptr + group * M * K + rows * K + tl.arange(0, K)[None, None, :])
    b = tl.load(b_ptr + group * M * K + tl.arange(0, K)[None, :, None] * M + columns)
    c = tl.dot_scaled(a, tl.load(a_scale_ptr + scales), "e5m2", b, tl.load(b_scale_ptr + scales), "e5m2")
    tl.store(c_ptr + group * M * M + rows * M + columns, c)
