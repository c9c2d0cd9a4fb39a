"""The sum in the loop is negated and kept, not added up: the pass that keeps sums inside a thread expects an addition."""

import triton
import triton.language as tl


@triton.jit
def last_negated(x_ptr, y_ptr, steps, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows = tl.arange(0, ROWS)
    result = tl.zeros([ROWS], tl.float32)
    for step in range(0, steps):
        x = tl.load(x_ptr + step * ROWS * COLUMNS + rows[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
        result = -tl.sum(x, axis=1)
    tl.store(y_ptr + rows, result)
