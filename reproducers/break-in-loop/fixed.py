"""A while loop whose condition says when to stop."""

import triton
import triton.language as tl


@triton.jit
def find(x_ptr, y_ptr, n):
    index = 0
    while (index < n) & (tl.load(x_ptr + index) <= 0):
        tl.store(y_ptr, index)
        index += 1
