"""A TF32 matmul whose B tile is [BLOCK_K, BLOCK_N], loaded through a TMA descriptor.

The tile of a row-major B is N-major in shared memory. wgmma reads TF32 operands K-major only, and releases up to
3.2 find that out when they write the instruction: assertion "WGMMA type or shape is not supported".
"""

import triton
import triton.language as tl
from descriptors import load_tile, make_descriptor


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M
    column = tl.program_id(1) * BLOCK_N
    a_desc = make_descriptor(a_ptr, M, K, BLOCK_M, BLOCK_K)
    b_desc = make_descriptor(b_ptr, K, N, BLOCK_K, BLOCK_N)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = load_tile(a_desc, row, k, BLOCK_M, BLOCK_K)
        b = load_tile(b_desc, k, column, BLOCK_K, BLOCK_N)
        accumulator = tl.dot(a, b, accumulator)
    rows = row + tl.arange(0, BLOCK_M)
    columns = column + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], accumulator, mask=inside)
