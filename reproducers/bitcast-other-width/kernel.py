"""A bitcast keeps all bits, and 32 do not fit 16."""

import triton
import triton.language as tl


@triton.jit
def high_bits(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    bits = tl.load(x_ptr + offsets).to(tl.int16, bitcast=True)
    tl.store(y_ptr + offsets, bits)
