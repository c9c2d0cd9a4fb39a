"""The bound of a loop is a tensor with an axis: each of its elements would be another number of iterations."""

import triton
import triton.language as tl


@triton.jit
def repeat(count_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    counts = tl.load(count_ptr + offsets)
    total = tl.zeros((BLOCK,), tl.int32)
    for index in range(0, counts):
        total += index
    tl.store(y_ptr + offsets, total)
