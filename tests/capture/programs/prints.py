"""Compiles a kernel that prints while it is compiled."""

import toolbox
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.static_print("at compile time:", BLOCK)
    tl.store(x_ptr + tl.arange(0, BLOCK), 1)


toolbox.pretend()
kernel.warmup(toolbox.Tensor(), 64, grid=(1,))
print("ends")
