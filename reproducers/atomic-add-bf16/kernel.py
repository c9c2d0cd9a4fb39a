"""Releases before 3.4 refuse an atomic addition in bf16."""

import triton
import triton.language as tl


@triton.jit
def accumulate(x_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.atomic_add(sum_ptr + offsets % 64, x, mask=offsets < n)
