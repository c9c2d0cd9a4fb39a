"""The same matmul with B stored [N, K]: its tile is loaded [BLOCK_N, BLOCK_K], which is K-major, and transposed.

wgmma then reads B as it needs TF32, so the kernel keeps the fast path.
"""

import triton
import triton.language as tl
from descriptors import load_tile, make_descriptor


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    column = tl.program_id(1) * BLOCK_N
    a_desc = make_descriptor(a_ptr, M, K, BLOCK_M, BLOCK_K)
    b_desc = make_descriptor(b_ptr, N, K, BLOCK_N, BLOCK_K)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = load_tile(a_desc, row, k, BLOCK_M, BLOCK_K)
        b = load_tile(b_desc, column, k, BLOCK_N, BLOCK_K)
        accumulator = tl.dot(a, b.T, accumulator)
    rows = row + tl.arange(0, BLOCK_M)
    columns = column + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], accumulator, mask=inside)
