"""The condition is a float tensor. Without debug the call is dropped, and the kernel compiles."""

import triton
import triton.language as tl


@triton.jit
def log_or_fail(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.device_assert(x, "zero")
    y = tl.log(x)
    tl.store(y_ptr + offsets, y, mask=inside)
