"""A state that each step stores, multiplies and replaces by the difference of two products."""

import triton
import triton.language as tl


@triton.jit
def states(k_ptr, q_ptr, w_ptr, out_ptr, N, D: tl.constexpr):
    rows = tl.arange(0, D)[:, None]
    at = rows * D + tl.arange(0, D)[None, :]
    state = tl.zeros((D, D), tl.float32)
    for step in range(N):
        tl.store(out_ptr + step * D * D + at, state.to(tl.bfloat16))
        k = tl.load(k_ptr + step * D * D + at)
        q = tl.load(q_ptr + step * D * D + at)
        w = tl.load(w_ptr + step * D * D + at)
        update = tl.dot(k, state.to(tl.bfloat16)).to(tl.bfloat16)
        state = tl.dot(tl.trans(q), k) - tl.dot(tl.trans(w), update)
