"""// keeps an integer."""

import triton
import triton.language as tl


@triton.jit
def count(y_ptr, n):
    for index in range(n // 4):
        tl.store(y_ptr + index, index)
