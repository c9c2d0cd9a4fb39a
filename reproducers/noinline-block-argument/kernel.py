"""A function that is not inlined takes scalars; this one is called with a block."""

import triton
import triton.language as tl


@triton.jit(noinline=True)
def double(x):
    return x + x


@triton.jit
def scale(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, double(tl.load(x_ptr + offsets)))
