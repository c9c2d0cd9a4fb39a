"""The accumulator is fp32 from the start."""

import triton
import triton.language as tl


@triton.jit
def running_sum(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK))
        total += x.to(tl.float32) * 0.5
    tl.store(y_ptr + tl.arange(0, BLOCK), total)
