"""The operands have 32 bits, and one of them its value in the upper half."""

import triton
import triton.language as tl


@triton.jit
def upper(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(z_ptr + offsets, tl.umulhi(x.to(tl.uint32) << 16, y.to(tl.uint32)).to(tl.uint16))
