"""The parameter is declared constant, and stored to."""

import triton
import triton.language as tl


@triton.jit
def scale(x_ptr: tl.const, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2)
