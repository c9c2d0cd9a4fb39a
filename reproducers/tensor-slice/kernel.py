"""A tensor cannot be sliced."""

import triton
import triton.language as tl


@triton.jit
def rotate(x_ptr, y_ptr, D: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, D))
    tl.store(y_ptr + tl.arange(0, D // 2), -x[0 : D // 2])
