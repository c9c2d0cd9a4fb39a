"""Two comparisons are joined by &."""

import triton
import triton.language as tl


@triton.jit
def inside(x_ptr, y_ptr, low, high, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, tl.where((low <= x) & (x < high), x, 0.0))
