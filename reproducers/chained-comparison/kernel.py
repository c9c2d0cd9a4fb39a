"""Python's low <= x < high compares twice; the front end translates one comparison at a time."""

import triton
import triton.language as tl


@triton.jit
def inside(x_ptr, y_ptr, low, high, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, tl.where(low <= x < high, x, 0.0))
