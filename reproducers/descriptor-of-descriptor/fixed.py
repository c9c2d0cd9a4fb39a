"""The descriptor that the host made is used."""

import triton
import triton.language as tl


@triton.jit
def again(desc, out_ptr, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    block = desc.load([0, 0])
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], block)
