"""The function that combines two pairs returns one value."""

import triton
import triton.language as tl


@triton.jit
def combine(x1, y1, x2, y2):
    return x1 * x2 + y1 + y2


@triton.jit
def scan(a_ptr, b_ptr, out_ptr, T: tl.constexpr):
    t = tl.arange(0, T)
    h = tl.associative_scan((tl.load(a_ptr + t), tl.load(b_ptr + t)), 0, combine)
    tl.store(out_ptr + t, h[1])
