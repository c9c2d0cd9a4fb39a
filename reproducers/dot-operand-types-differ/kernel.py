"""The scale is fp32, so the scaled A tile is fp32 too, and B is still fp16."""

import triton
import triton.language as tl


@triton.jit
def scaled_dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * N + columns[None, :])
    scale = tl.load(b_ptr).to(tl.float32)
    c = tl.dot(a * scale, b)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c)
