"""Assembly of the caller's: where LLVM and ptxas can be made to fail at will."""

import triton
import triton.language as tl


@triton.jit
def elementwise(x_ptr, y_ptr, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise(ASM, CONSTRAINTS, [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y_ptr + offsets, y)
