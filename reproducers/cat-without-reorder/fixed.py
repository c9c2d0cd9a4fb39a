"""tl.join and tl.permute keep the order."""

import triton
import triton.language as tl


@triton.jit
def append(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    both = tl.join(tl.load(x_ptr + offsets), tl.load(x_ptr + BLOCK + offsets)).permute(1, 0).reshape(2 * BLOCK)
    tl.store(y_ptr + tl.arange(0, 2 * BLOCK), both)
