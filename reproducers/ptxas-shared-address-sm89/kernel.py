"""Stores the transpose of a scaled tile whose 512 elements a thread do not fit into registers: 2 warps for 128x256.

The transpose goes through 8 KiB of shared memory. ptxas computes the address from the bits of the thread's number; short
of registers, it keeps (t & 7) << 8 | t & 32 in the register that still had to hold t & 7, and shifts that. The accesses
then reach up to 37 KiB. What Triton hands to ptxas is right, and so is the size of the shared memory.
"""

import triton
import triton.language as tl


@triton.jit
def scaled_transpose(src_ptr, factor_ptr, dst_ptr, rows, cols, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    i = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    j = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    tile = tl.load(src_ptr + i[:, None] * cols + j[None, :]).to(tl.float32)
    tile = tile * tl.load(factor_ptr + i)[:, None]
    tl.store(dst_ptr + j[:, None] * rows + i[None, :], tl.trans(tile).to(tl.float16))
