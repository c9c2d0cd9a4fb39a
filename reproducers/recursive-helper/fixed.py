"""The product is computed in a loop."""

import triton
import triton.language as tl


@triton.jit
def factorial(n):
    product = 1
    for factor in range(2, n + 1):
        product *= factor
    return product


@triton.jit
def fill(y_ptr, n):
    tl.store(y_ptr, factorial(n))
