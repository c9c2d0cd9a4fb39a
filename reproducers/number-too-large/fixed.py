"""The addition is done in 32 bits."""

import triton
import triton.language as tl


@triton.jit
def shift(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets).to(tl.int32) + 300)
