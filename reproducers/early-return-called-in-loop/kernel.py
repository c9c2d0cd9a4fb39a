"""A loop's body is one block, so a function of several, as an early return makes it, stays a call with a tensor."""

import triton
import triton.language as tl


@triton.jit
def row(x_ptr, offsets, n):
    if n > 3:
        return tl.load(x_ptr + offsets)
    return tl.load(x_ptr + offsets) * 2.0


@triton.jit
def add_rows(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for index in range(n):
        total += row(x_ptr + index, offsets, n)
    tl.store(y_ptr + offsets, total)
