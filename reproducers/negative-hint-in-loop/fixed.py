"""The hint is positive."""

import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    for step in range(n):
        offsets = tl.multiple_of(offsets + step, [8])
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
