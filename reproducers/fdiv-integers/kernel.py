"""tl.fdiv divides floating-point numbers; these are integers."""

import triton
import triton.language as tl


@triton.jit
def ratio(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(z_ptr + offsets, tl.fdiv(x, y))
