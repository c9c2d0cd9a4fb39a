"""The loop goes on while any element asks for it."""

import triton
import triton.language as tl


@triton.jit
def halve_all(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = x
    while tl.max(y, axis=0) > 1:
        y = tl.where(y > 1, y // 2, y)
    tl.store(y_ptr + offsets, y, mask=inside)
