"""A range that counts down: tl.arange only counts up from its first argument to its second."""

import triton
import triton.language as tl


@triton.jit
def reversed_copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    backwards = tl.arange(BLOCK, 0)
    tl.store(y_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + backwards - 1))
