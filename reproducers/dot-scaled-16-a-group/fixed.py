"""A scale is for 32 values along K."""

import triton
import triton.language as tl


@triton.jit
def scaled_dot(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, K)
    groups = tl.arange(0, K // 32)
    a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
    a_scale = tl.load(a_scale_ptr + rows[:, None] * K // 32 + groups[None, :])
    b_scale = tl.load(b_scale_ptr + columns[:, None] * K // 32 + groups[None, :])
    c = tl.dot_scaled(a, a_scale, "e5m2", b, b_scale, "e5m2")
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c)
