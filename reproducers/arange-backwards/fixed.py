"""The range counts up and is subtracted from the block."""

import triton
import triton.language as tl


@triton.jit
def reversed_copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    backwards = BLOCK - tl.arange(0, BLOCK)
    tl.store(y_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + backwards - 1))
