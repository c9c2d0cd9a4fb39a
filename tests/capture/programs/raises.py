"""A kernel that adds what does not fit together."""

import toolbox
import triton
import triton.language as tl


@triton.jit
def wrong_shapes(x_ptr, BLOCK: tl.constexpr):
    left = tl.load(x_ptr + tl.arange(0, BLOCK))
    right = tl.load(x_ptr + tl.arange(0, 2 * BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), left + right)


toolbox.pretend()
wrong_shapes.warmup(toolbox.Tensor(), 64, grid=(1,))
