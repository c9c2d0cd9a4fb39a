"""n / 2 is a float in a kernel as in Python, and a pointer cannot be advanced by one."""

import triton
import triton.language as tl


@triton.jit
def fold(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = x + tl.load(x_ptr + n / 2 + offsets, mask=inside)
    tl.store(y_ptr + offsets, y, mask=inside)
