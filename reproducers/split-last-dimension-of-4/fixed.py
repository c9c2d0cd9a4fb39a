"""The last dimension is split in two, and the result joined."""

import triton
import triton.language as tl


@triton.jit
def halves(x_ptr, y_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK)[:, None] * 4 + tl.arange(0, 4)[None, :])
    first, second = tl.split(tl.reshape(x, [BLOCK, 2, 2]))
    tl.store(y_ptr + tl.arange(0, BLOCK)[:, None] * 2 + tl.arange(0, 2)[None, :], first + second)
