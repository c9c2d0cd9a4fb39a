"""TMA gathers rows of elements up to 32 bits."""

import triton
import triton.language as tl


@triton.jit
def fetch(table_ptr, index_ptr, y_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    table = tl.make_tensor_descriptor(table_ptr, [n, COLUMNS], [COLUMNS, 1], [1, COLUMNS])
    picked = table.gather(tl.load(index_ptr + rows), 0)
    tl.store(y_ptr + rows[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], picked)
