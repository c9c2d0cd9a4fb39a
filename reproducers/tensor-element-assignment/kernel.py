"""A tensor is a value: its elements cannot be assigned to."""

import triton
import triton.language as tl


@triton.jit
def first_to_one(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    x[0] = 1.0
    y = x
    tl.store(y_ptr + offsets, y, mask=inside)
