"""numel is an attribute."""

import triton
import triton.language as tl


@triton.jit
def flatten(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, x.reshape(x.numel))
