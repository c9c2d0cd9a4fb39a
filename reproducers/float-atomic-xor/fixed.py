"""Memory and values are viewed as 32-bit integers."""

import triton
import triton.language as tl


@triton.jit
def checksum(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    bits = sum_ptr.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.atomic_xor(bits + offsets % 32, x.to(tl.int32, bitcast=True), mask=offsets < n)
