"""The value of a constexpr is part of the kernel: it cannot be left unspecialized."""

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["BLOCK"])
def copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets))
