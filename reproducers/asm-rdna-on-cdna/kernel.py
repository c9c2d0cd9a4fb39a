"""Assembly written for RDNA in a kernel for CDNA, which has no such instruction."""

import triton
import triton.language as tl


@triton.jit
def apply(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise("v_permlane16_b32 $0, $1, s0, s0", "=v,v", [x], tl.int32, is_pure=True, pack=1)
    tl.store(y_ptr + offsets, y)
