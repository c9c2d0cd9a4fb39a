"""With debug=True the assertion is part of the loop, and the pipeliner cannot make it conditional."""

import triton
import triton.language as tl


@triton.jit
def product(a_ptr, b_ptr, c_ptr, n, M: tl.constexpr):
    row = tl.arange(0, M)
    offsets = row[:, None] * M + row[None, :]
    total = tl.zeros([M, M], tl.float32)
    for index in range(n):
        a = tl.load(a_ptr + offsets + index * M)
        tl.device_assert(a > 0, "positive")
        total = tl.dot(a, tl.load(b_ptr + offsets + index * M), total)
    tl.store(c_ptr + offsets, total)
