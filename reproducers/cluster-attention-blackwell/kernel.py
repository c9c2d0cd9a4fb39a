"""Two chained products for two CTAs on Blackwell."""

import triton
import triton.language as tl


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, scale, N, D: tl.constexpr, ROWS: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :])
    sums = tl.zeros((ROWS, D), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    highest = tl.full((ROWS,), -float("inf"), tl.float32)
    for start in range(0, N, STEP):
        keys = start + tl.arange(0, STEP)
        k = tl.load(k_ptr + keys[:, None] * D + d[None, :])
        v = tl.load(v_ptr + keys[:, None] * D + d[None, :])
        scores = tl.dot(q, tl.trans(k)) * scale
        higher = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp(scores - higher[:, None])
        faded = tl.exp(highest - higher)
        total = total * faded + tl.sum(weights, 1)
        sums = tl.dot(weights.to(v.dtype), v, sums * faded[:, None])
        highest = higher
    tl.store(out_ptr + rows[:, None] * D + d[None, :], (sums / total[:, None]).to(tl.float16))
