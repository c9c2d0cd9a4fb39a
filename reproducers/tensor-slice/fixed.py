"""The half that is wanted is loaded as such."""

import triton
import triton.language as tl


@triton.jit
def rotate(x_ptr, y_ptr, D: tl.constexpr):
    half = tl.arange(0, D // 2)
    tl.store(y_ptr + half, -tl.load(x_ptr + half))
