"""A return under a run-time condition: the function has several blocks, and a tensor is passed from one to another."""

import triton
import triton.language as tl


@triton.jit
def scaled(x, n):
    if n > 3:
        return x
    return x * 2.0


@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, scaled(tl.load(x_ptr + offsets), n))
