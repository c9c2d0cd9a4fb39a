"""The row is spread over four CTAs. A sort reshapes to a hypercube of 2s and reduces along its axes, across the CTAs."""

import triton
import triton.language as tl


@triton.jit
def sort_row(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.sort(x)
    tl.store(y_ptr + offsets, y, mask=inside)
