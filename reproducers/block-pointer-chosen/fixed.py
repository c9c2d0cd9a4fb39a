"""The pointer is chosen, and the block pointer is made of it."""

import triton
import triton.language as tl


@triton.jit
def chosen(a_ptr, b_ptr, out_ptr, N, flag, ROWS: tl.constexpr, STEP: tl.constexpr):
    if flag > 0:
        base = a_ptr
    else:
        base = b_ptr
    block = tl.make_block_ptr(base, (ROWS, N), (N, 1), (0, 0), (ROWS, STEP), (1, 0))
    sums = tl.zeros((ROWS, STEP), tl.float32)
    for _ in range(0, N, STEP):
        sums += tl.load(block)
        block = tl.advance(block, (0, STEP))
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * STEP + tl.arange(0, STEP)[None, :], sums)
