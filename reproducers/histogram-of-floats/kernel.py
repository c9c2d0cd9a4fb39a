"""tl.histogram counts 32-bit integers; these are fp32."""

import triton
import triton.language as tl


@triton.jit
def count(x_ptr, y_ptr, BLOCK: tl.constexpr, BINS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(y_ptr + tl.arange(0, BINS), tl.histogram(x, BINS))
