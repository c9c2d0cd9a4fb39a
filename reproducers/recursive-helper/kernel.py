"""A function that calls itself with a run-time value."""

import triton
import triton.language as tl


@triton.jit
def factorial(n):
    if n <= 1:
        return 1
    else:
        return n * factorial(n - 1)


@triton.jit
def fill(y_ptr, n):
    tl.store(y_ptr, factorial(n))
