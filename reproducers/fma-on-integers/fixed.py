"""Multiplied and added."""

import triton
import triton.language as tl


@triton.jit
def hash_step(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = x * x + x
    tl.store(y_ptr + offsets, y, mask=inside)
