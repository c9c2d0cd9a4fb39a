"""Each value is compared."""

import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, FACTOR: tl.constexpr):
    y = tl.load(x_ptr)
    if (FACTOR == 2) or (FACTOR == 4):
        y *= FACTOR
    tl.store(y_ptr, y)
