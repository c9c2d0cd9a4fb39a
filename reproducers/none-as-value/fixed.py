"""The branch is decided when the kernel is compiled."""

import triton
import triton.language as tl


@triton.jit
def bias(x_ptr, y_ptr, BLOCK: tl.constexpr, BIAS: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if BIAS is not None:
        x += BIAS
    tl.store(y_ptr + offsets, x)
