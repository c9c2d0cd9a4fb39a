"""One tile is the left and the right operand, so it has one split over the CTAs for both, and one of them is along K."""

import triton
import triton.language as tl


@triton.jit
def gram(x_ptr, g_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(g_ptr + offsets, tl.dot(x, tl.trans(x)))
