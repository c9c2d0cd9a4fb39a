"""The bits are taken as 32-bit integers, shifted and narrowed."""

import triton
import triton.language as tl


@triton.jit
def high_bits(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    bits = tl.load(x_ptr + offsets).to(tl.int32, bitcast=True)
    tl.store(y_ptr + offsets, (bits >> 16).to(tl.int16))
