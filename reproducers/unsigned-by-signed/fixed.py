"""Both operands are signed."""

import triton
import triton.language as tl


@triton.jit
def divide(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(z_ptr + offsets, tl.load(x_ptr + offsets).to(tl.int32) // tl.load(y_ptr + offsets))
