"""A weight in mxfp4 times an activation in fp16. 3.2 has tl.dot_scaled, but no 16-bit operand and no scale on the right."""

import triton
import triton.language as tl


@triton.jit
def w4a16_tile(x_ptr, w_ptr, scale_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * K + tl.arange(0, K)[None, :])
    w = tl.load(w_ptr + tl.arange(0, K // 2)[:, None] * N + columns[None, :])
    scale = tl.load(scale_ptr + columns[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    y = tl.dot_scaled(x, None, "fp16", w, scale, "e2m1")
    tl.store(y_ptr + rows[:, None] * N + columns[None, :], y)
