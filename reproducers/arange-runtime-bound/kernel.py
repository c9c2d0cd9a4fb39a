"""tl.arange up to n, which is known only at run time."""

import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, n):
    offsets = tl.arange(0, n)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) * 2.0)
