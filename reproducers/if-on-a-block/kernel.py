"""A block of comparisons has no single truth value."""

import triton
import triton.language as tl


@triton.jit
def relu(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if x < 0:
        x = x * 0
    tl.store(y_ptr + offsets, x)
