"""The loop runs as often as the largest needs, and each element takes part as often as its own."""

import triton
import triton.language as tl


@triton.jit
def repeat(count_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    counts = tl.load(count_ptr + offsets)
    total = tl.zeros((BLOCK,), tl.int32)
    for index in range(0, tl.max(counts, axis=0)):
        total += tl.where(index < counts, index, 0)
    tl.store(y_ptr + offsets, total)
