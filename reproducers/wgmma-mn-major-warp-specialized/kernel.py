"""An fp32 matmul whose B tile is [BLOCK_K, BLOCK_N], loaded through a TMA descriptor in a warp-specialized loop.

The plain loop is repaired by the compiler (it transposes the operand); the warp-specialized one still hands the
N-major tile to wgmma, which reads TF32, int8 and fp8 operands K-major only.
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
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.range(0, K, BLOCK_K, warp_specialize=WARP_SPECIALIZE):
        a = a_desc.load([row, k])
        b = b_desc.load([k, column])
        accumulator = tl.dot(a, b, accumulator)
    # Through a descriptor: Triton 3.6 leaves half of a 128-row tile unwritten when a warp-specialized kernel stores it
    # through pointers (seen on an H200).
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    c_desc.store([row, column], accumulator)
