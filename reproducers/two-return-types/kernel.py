"""Two return statements of different types; which one is taken is known only at run time."""

import triton
import triton.language as tl


@triton.jit
def size(value, limit):
    if value > limit:
        return value
    else:
        return 0


@triton.jit
def clip(x_ptr, y_ptr, limit):
    tl.store(y_ptr, size(tl.load(x_ptr), limit))
