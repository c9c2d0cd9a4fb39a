"""A block pointer is advanced in a while loop."""

import triton
import triton.language as tl


@triton.jit
def loops(a_ptr, out_ptr, N, ROWS: tl.constexpr, STEP: tl.constexpr):
    block = tl.make_block_ptr(a_ptr, (ROWS, N), (N, 1), (0, 0), (ROWS, STEP), (1, 0))
    sums = tl.zeros((ROWS, STEP), tl.float32)
    i = 0
    while i < N:
        sums += tl.load(block)
        block = tl.advance(block, (0, STEP))
        i += STEP
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * STEP + tl.arange(0, STEP)[None, :], sums)
