"""The flags are int32."""

import triton
import triton.language as tl


@triton.jit
def mark(ids_ptr, seen_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ids = tl.load(ids_ptr + offsets, mask=offsets < n, other=0)
    tl.atomic_or(seen_ptr + ids, tl.full([BLOCK], 1, tl.int32), mask=offsets < n)
