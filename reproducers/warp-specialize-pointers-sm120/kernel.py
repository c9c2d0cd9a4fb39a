"""A loop of pointer loads and a dot is asked to be specialized on a GPU without tcgen05."""

import triton
import triton.language as tl


@triton.jit
def tile_dot(a_ptr, b_ptr, c_ptr, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    inner = tl.arange(0, K)
    total = tl.zeros([M, N], tl.float32)
    for k in tl.range(n, warp_specialize=True):
        a = tl.load(a_ptr + k * K + rows[:, None] * K + inner[None, :])
        b = tl.load(b_ptr + k * K + inner[:, None] * N + columns[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)
