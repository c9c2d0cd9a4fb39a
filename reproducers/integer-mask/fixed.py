"""The comparison is a boolean."""

import triton
import triton.language as tl


@triton.jit
def masked_copy(x_ptr, keep_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + offsets)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets), mask=keep != 0)
