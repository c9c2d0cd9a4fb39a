"""range loops at run time."""

import triton
import triton.language as tl


@triton.jit
def total(x_ptr, y_ptr, n):
    sum = 0.0
    for index in range(n):
        sum += tl.load(x_ptr + index)
    tl.store(y_ptr, sum)
