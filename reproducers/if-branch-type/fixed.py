"""Cast back inside the branch."""

import triton
import triton.language as tl


@triton.jit
def maybe_scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = x
    if n > 1000:
        y = (y * tl.full([], 0.5, tl.float32)).to(tl.float16)
    tl.store(y_ptr + offsets, y, mask=inside)
