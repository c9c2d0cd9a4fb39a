"""It is a run-time value from the start."""

import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, n, START: tl.constexpr):
    start = tl.full([], START, tl.int32)
    for index in range(n):
        tl.store(x_ptr + start, index)
        start = start + tl.load(x_ptr + index)
