"""A layer norm over whole rows, and a histogram-like scan of them."""

import triton
import triton.language as tl


@triton.jit
def norm(x_ptr, w_ptr, y_ptr, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr, SCAN: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, COLUMNS)
    at = rows[:, None] * stride + columns[None, :]
    x = tl.load(x_ptr + at).to(tl.float32)
    mean = tl.sum(x, 1) / COLUMNS
    centred = x - mean[:, None]
    spread = tl.sum(centred * centred, 1) / COLUMNS
    y = centred * tl.rsqrt(spread + 1e-5)[:, None] * tl.load(w_ptr + columns)[None, :]
    if SCAN:
        y = tl.cumsum(y, 0).trans().reshape(COLUMNS, ROWS).trans()
    tl.store(y_ptr + at, y)
