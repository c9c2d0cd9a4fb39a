"""The same matmul with B stored [N, K]: its tile is loaded [BLOCK_N, BLOCK_K], which is K-major, and transposed.

wgmma then reads B as it needs fp32 (TF32), so the kernel keeps warp specialization and the fast path.
"""

import triton
import triton.language as tl


@triton.jit
def matmul(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    WARP_SPECIALIZE: tl.constexpr,
):
    row = tl.program_id(0) * BLOCK_M
    column = tl.program_id(1) * BLOCK_N
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, K, BLOCK_K, warp_specialize=WARP_SPECIALIZE):
        a = a_desc.load([row, k])
        b = b_desc.load([column, k])
        accumulator = tl.dot(a, b.T, accumulator)
    # Through a descriptor: Triton 3.6 leaves half of a 128-row tile unwritten when a warp-specialized kernel stores it
    # through pointers (seen on an H200).
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    c_desc.store([row, column], accumulator)
