"""The dimension is made the last one and back."""

import triton
import triton.language as tl


@triton.jit
def upside_down(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, tl.trans(tl.flip(tl.trans(x), 1)))
