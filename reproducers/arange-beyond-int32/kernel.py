"""The range begins where 32-bit integers end."""

import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(2147483648, 2147483648 + BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
