"""The rows are loaded through pointers."""

import triton
import triton.language as tl


@triton.jit
def fetch(table_ptr, index_ptr, y_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    index = tl.load(index_ptr + rows)
    picked = tl.load(table_ptr + index[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], mask=index[:, None] < n)
    tl.store(y_ptr + rows[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], picked)
