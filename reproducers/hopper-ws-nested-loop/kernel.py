"""A persistent matmul that adds its tiles to the result, and whose outer loop is to be specialised. The pass that splits
the tile over two warp groups meets an operation without a task.
"""

import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    columns = tl.cdiv(N, BLOCK_N)
    a_tiles = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_tiles = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_tiles = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BLOCK_M) * columns, tl.num_programs(0), warp_specialize=True):
        row = tile // columns * BLOCK_M
        column = tile % columns * BLOCK_N
        accumulator = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
        for k in tl.range(0, K, BLOCK_K):
            accumulator = tl.dot(a_tiles.load([row, k]), b_tiles.load([column, k]).T, accumulator)
        c_tiles.atomic_add([row, column], accumulator)
