"""tl.libdevice of Triton 2 is not in triton.language any more."""

import triton
import triton.language as tl


@triton.jit
def hypotenuse(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.libdevice.hypot(x, x)
    tl.store(y_ptr + offsets, y, mask=inside)
