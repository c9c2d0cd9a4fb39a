"""tl.cat may change the order of the elements, and wants that to be allowed."""

import triton
import triton.language as tl


@triton.jit
def append(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    both = tl.cat(tl.load(x_ptr + offsets), tl.load(x_ptr + BLOCK + offsets))
    tl.store(y_ptr + tl.arange(0, 2 * BLOCK), both)
