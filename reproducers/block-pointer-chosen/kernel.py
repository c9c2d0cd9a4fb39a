"""A block pointer is made in each branch of an if."""

import triton
import triton.language as tl


@triton.jit
def chosen(a_ptr, b_ptr, out_ptr, N, flag, ROWS: tl.constexpr, STEP: tl.constexpr):
    if flag > 0:
        block = tl.make_block_ptr(a_ptr, (ROWS, N), (N, 1), (0, 0), (ROWS, STEP), (1, 0))
    else:
        block = tl.make_block_ptr(b_ptr, (ROWS, N), (N, 1), (0, 0), (ROWS, STEP), (1, 0))
    sums = tl.zeros((ROWS, STEP), tl.float32)
    for _ in range(0, N, STEP):
        sums += tl.load(block)
        block = tl.advance(block, (0, STEP))
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * STEP + tl.arange(0, STEP)[None, :], sums)
