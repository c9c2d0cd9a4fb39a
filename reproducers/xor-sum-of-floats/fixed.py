"""The bits are taken as integers."""

import triton
import triton.language as tl


@triton.jit
def checksum(x_ptr, y_ptr, BLOCK: tl.constexpr):
    tl.store(y_ptr, tl.xor_sum(tl.load(x_ptr + tl.arange(0, BLOCK)).to(tl.int32, bitcast=True), 0))
