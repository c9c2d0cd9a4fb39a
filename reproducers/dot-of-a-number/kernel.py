"""A tile multiplied by a scalar with tl.dot, which multiplies matrices."""

import triton
import triton.language as tl


@triton.jit
def scale_tile(a_ptr, factor_ptr, c_ptr, M: tl.constexpr, K: tl.constexpr):
    offsets = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
    a = tl.load(a_ptr + offsets)
    factor = tl.load(factor_ptr)
    tl.store(c_ptr + offsets, tl.dot(a, factor))
