"""The value is a tl.constexpr."""

import triton
import triton.language as tl


WIDTH = tl.constexpr(4)


@triton.jit
def scale(x_ptr, y_ptr):
    tl.store(y_ptr, tl.load(x_ptr) * WIDTH)
