"""Inline assembly on three elements at a time, of a tensor with 16: ``pack`` must divide the number of elements."""

import triton
import triton.language as tl


@triton.jit
def kernel():
    tl.inline_asm_elementwise("", "", [tl.arange(0, 16)], tl.float32, True, 3)
