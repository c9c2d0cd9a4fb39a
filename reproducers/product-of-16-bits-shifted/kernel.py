"""The compiler turns the multiplication and the shift into one operation, for which older releases have no lowering."""

import triton
import triton.language as tl


@triton.jit
def upper(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets).to(tl.uint32)
    y = tl.load(y_ptr + offsets).to(tl.uint32)
    tl.store(z_ptr + offsets, ((x * y) >> 16).to(tl.uint16))
