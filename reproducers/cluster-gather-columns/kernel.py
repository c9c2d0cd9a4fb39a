"""The tile is spread over two CTAs, so what is gathered is not within one warp."""

import triton
import triton.language as tl


@triton.jit
def pick(x_ptr, index_ptr, y_ptr, BLOCK: tl.constexpr):
    line = tl.arange(0, BLOCK)
    offsets = line[:, None] * BLOCK + line[None, :]
    picked = tl.gather(tl.load(x_ptr + offsets), tl.load(index_ptr + offsets), 0)
    tl.store(y_ptr + offsets, picked)
