"""Assembly that calls a function which the PTX does not declare."""

import triton
import triton.language as tl


@triton.jit
def apply(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise("{ .reg .b32 t; call (t), nowhere, ($1); mov.b32 $0, t; }", "=r,r", [x], tl.int32, is_pure=True, pack=1)
    tl.store(y_ptr + offsets, y)
