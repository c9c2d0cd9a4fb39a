"""wgmma is of sm_90 alone; sm_120 does not have it."""

import triton
import triton.language as tl


@triton.jit
def fence(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.inline_asm_elementwise(
        "wgmma.fence.sync.aligned; mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(y_ptr + offsets, y, mask=inside)
