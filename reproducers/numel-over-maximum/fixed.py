"""The same in chunks: the block is 4096 elements, and a loop covers the row."""

import triton
import triton.language as tl


@triton.jit
def relu_row(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.store(y_ptr + offsets, tl.maximum(x, 0.0), mask=offsets < n)
