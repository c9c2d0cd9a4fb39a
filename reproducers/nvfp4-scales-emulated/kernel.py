"""The scales of nvfp4 are fp8 numbers; an H100 has no scaled dot, so it is emulated."""

import triton
import triton.language as tl


@triton.jit
def scaled_dot(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, K // 2)
    groups = tl.arange(0, K // 16)
    a = tl.load(a_ptr + rows[:, None] * (K // 2) + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
    a_scale = tl.load(a_scale_ptr + rows[:, None] * (K // 16) + groups[None, :])
    b_scale = tl.load(b_scale_ptr + columns[:, None] * (K // 16) + groups[None, :])
    c = tl.dot_scaled(a, a_scale, "e2m1", b, b_scale, "e2m1")
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c)
