"""The front-end has no break."""

import triton
import triton.language as tl


@triton.jit
def find(x_ptr, y_ptr, n):
    for index in range(n):
        if tl.load(x_ptr + index) > 0:
            break
        tl.store(y_ptr, index)
