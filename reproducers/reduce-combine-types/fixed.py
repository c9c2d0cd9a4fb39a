"""The second value keeps its type."""

import triton
import triton.language as tl


@triton.jit
def combine(a1, b1, a2, b2):
    return a1 + a2, (b1 > b2).to(tl.float32)


@triton.jit
def reduced(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.reduce((tl.load(x_ptr + i), tl.load(y_ptr + i)), 0, combine)
    tl.store(out_ptr, x + y)
