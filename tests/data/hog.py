"""A module that takes more memory than a test allows, when it is imported."""

import triton
import triton.language as tl

HOG = bytearray(b"x") * (8 << 30)


@triton.jit
def copy(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets))
