"""Each of the 32 threads holds 32768 values, and every operation is written out 32768 times."""

import triton
import triton.language as tl


@triton.jit
def exponentials(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.exp(x) / (1.0 + tl.exp(-x))
    tl.store(y_ptr + offsets, y, mask=inside)
