"""Both statements return fp32."""

import triton
import triton.language as tl


@triton.jit
def size(value, limit):
    if value > limit:
        return value
    else:
        return 0.0


@triton.jit
def clip(x_ptr, y_ptr, limit):
    tl.store(y_ptr, size(tl.load(x_ptr), limit))
