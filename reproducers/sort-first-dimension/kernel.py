"""tl.sort sorts along the last dimension only."""

import triton
import triton.language as tl


@triton.jit
def sort_columns(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(y_ptr + offsets, tl.sort(tl.load(x_ptr + offsets), 0))
