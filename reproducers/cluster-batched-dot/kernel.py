"""The pass that spreads a dot over the CTAs of a cluster assumes two dimensions; this one has three."""

import triton
import triton.language as tl


@triton.jit
def batched(a_ptr, b_ptr, c_ptr, BATCH: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    batch = tl.arange(0, BATCH)[:, None, None]
    rows = tl.arange(0, M)[None, :, None]
    columns = tl.arange(0, N)[None, None, :]
    a = tl.load(a_ptr + batch * (M * K) + rows * K + tl.arange(0, K)[None, None, :])
    b = tl.load(b_ptr + batch * (K * N) + tl.arange(0, K)[None, :, None] * N + columns)
    tl.store(c_ptr + batch * (M * N) + rows * N + columns, tl.dot(a, b))
