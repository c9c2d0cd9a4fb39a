"""Each element is chosen by tl.where."""

import triton
import triton.language as tl


@triton.jit
def relu(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    x = tl.where(x < 0, 0.0, x)
    tl.store(y_ptr + offsets, x)
