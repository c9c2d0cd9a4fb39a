"""START is a compile-time constant, and a run-time loop cannot give it another value."""

import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, n, START: tl.constexpr):
    for index in range(n):
        tl.store(x_ptr + START, index)
        START = START + tl.load(x_ptr + index)
