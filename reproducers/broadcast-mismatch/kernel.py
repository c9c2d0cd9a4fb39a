"""64 elements and 32 elements do not broadcast."""

import triton
import triton.language as tl


@triton.jit
def add_bias(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = x + tl.load(x_ptr + tl.arange(0, BLOCK // 2))
    tl.store(y_ptr + offsets, y, mask=inside)
