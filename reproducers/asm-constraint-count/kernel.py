"""Two arguments, but the constraints name one input."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.inline_asm_elementwise("add.s32 $0, $1, $1;", "=r,r", [x, x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y_ptr + offsets, y, mask=inside)
