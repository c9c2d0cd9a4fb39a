"""Membership is not an operator of kernels."""

import triton
import triton.language as tl


@triton.jit
def scale(x_ptr, y_ptr, FACTOR: tl.constexpr):
    y = tl.load(x_ptr)
    if FACTOR in (2, 4):
        y *= FACTOR
    tl.store(y_ptr, y)
