"""n is known at the launch, not when the kernel is compiled."""

import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(n > BLOCK)
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets), mask=offsets < n)
