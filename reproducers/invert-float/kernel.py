"""Bits are inverted in integers; these are fp32."""

import triton
import triton.language as tl


@triton.jit
def invert(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, ~tl.load(x_ptr + offsets))
