"""The sum is made in the type of its argument, and there is no fp8 arithmetic."""

import triton
import triton.language as tl


@triton.jit
def row_sum(x_ptr, y_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    tl.store(y_ptr + rows, tl.sum(x, axis=1))
