"""Every element has its own condition, and a loop has one."""

import triton
import triton.language as tl


@triton.jit
def halve_all(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = x
    while y > 1:
        y = y // 2
    tl.store(y_ptr + offsets, y, mask=inside)
