"""The same with a pack that divides the number of elements."""

import triton
import triton.language as tl


@triton.jit
def kernel():
    tl.inline_asm_elementwise("", "", [tl.arange(0, 16)], tl.float32, True, 4)
