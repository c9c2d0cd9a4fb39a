"""tl.static_range unrolls, and n is not known before the launch."""

import triton
import triton.language as tl


@triton.jit
def total(x_ptr, y_ptr, n):
    sum = 0.0
    for index in tl.static_range(n):
        sum += tl.load(x_ptr + index)
    tl.store(y_ptr, sum)
