"""A value printed without words: the first argument of tl.device_print is a prefix, a string."""

import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.device_print(x)
    tl.store(y_ptr + offsets, x * 2)
