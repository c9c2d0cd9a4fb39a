"""The upper half of a product is computed for 32 and 64 bits, not for 16."""

import triton
import triton.language as tl


@triton.jit
def upper(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(z_ptr + offsets, tl.umulhi(x, y))
