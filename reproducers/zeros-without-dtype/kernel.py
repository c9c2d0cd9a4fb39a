"""An accumulator made without a type: tl.zeros has no default for it."""

import triton
import triton.language as tl


@triton.jit
def total(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    sums = tl.zeros([BLOCK])
    for start in range(0, n, BLOCK):
        sums += tl.load(x_ptr + start + offsets)
    tl.store(y_ptr, tl.sum(sums))
