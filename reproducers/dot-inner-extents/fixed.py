"""The second tile is transposed."""

import triton
import triton.language as tl


@triton.jit
def scores(q_ptr, k_ptr, s_ptr, ROWS: tl.constexpr, HEAD: tl.constexpr):
    rows = tl.arange(0, ROWS)
    head = tl.arange(0, HEAD)
    q = tl.load(q_ptr + rows[:, None] * HEAD + head[None, :])
    k = tl.load(k_ptr + rows[:, None] * HEAD + head[None, :])
    tl.store(s_ptr + rows[:, None] * ROWS + rows[None, :], tl.dot(q, tl.trans(k)))
