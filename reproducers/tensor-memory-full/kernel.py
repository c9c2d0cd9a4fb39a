"""Three accumulators of 128 x 256 are 768 columns of tensor memory; there are 512."""

import triton
import triton.language as tl


@triton.jit
def three_dots(a_ptr, b_ptr, c_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, K)
    first = tl.zeros([M, N], tl.float32)
    second = tl.zeros([M, N], tl.float32)
    third = tl.zeros([M, N], tl.float32)
    for k in range(n):
        a = tl.load(a_ptr + k * M * K + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + k * N * K + inner[:, None] * N + columns[None, :])
        first = tl.dot(a, b, first)
        second = tl.dot(a, b + 1, second)
        third = tl.dot(a + 1, b, third)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], first + second * third)
