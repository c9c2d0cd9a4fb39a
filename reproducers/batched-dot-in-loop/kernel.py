"""A batched (3-D) dot whose operands are loaded in a loop."""

import triton
import triton.language as tl


@triton.jit
def batched(a_ptr, b_ptr, c_ptr, n, G: tl.constexpr, M: tl.constexpr):
    group = tl.arange(0, G)[:, None, None]
    rows = tl.arange(0, M)[None, :, None]
    columns = tl.arange(0, M)[None, None, :]
    offsets = group * M * M + rows * M + columns
    total = tl.zeros([G, M, M], tl.float32)
    for k in range(n):
        total += tl.dot(tl.load(a_ptr + k * M + offsets), tl.load(b_ptr + k * M + offsets))
    tl.store(c_ptr + offsets, total)
