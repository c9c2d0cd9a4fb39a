"""Source and index have different ranks; tl.gather wants an index for every element of the result."""

import triton
import triton.language as tl


@triton.jit
def pick(x_ptr, index_ptr, y_ptr, BLOCK: tl.constexpr):
    line = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + line[:, None] * BLOCK + line[None, :])
    index = tl.load(index_ptr + line)
    picked = tl.gather(x, index, 1)
    tl.store(y_ptr + line[:, None] * BLOCK + line[None, :], picked)
