"""One return, after the branch."""

import triton
import triton.language as tl


@triton.jit
def scaled(x, n):
    y = x * 2.0
    if n > 3:
        y = x
    return y


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, scaled(tl.load(x_ptr + offsets), n))
