"""A number that does not fit the 8 bits of the tensor that it is added to."""

import triton
import triton.language as tl


@triton.jit
def shift(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 300)
