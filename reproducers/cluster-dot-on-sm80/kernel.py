"""A product for two CTAs on a GPU without clusters."""

import triton
import triton.language as tl


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, stride_am, stride_bk, stride_cm, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    inner = tl.arange(0, STEP)
    a = a_ptr + rows[:, None] * stride_am + inner[None, :]
    b = b_ptr + inner[:, None] * stride_bk + columns[None, :]
    sums = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, STEP):
        sums += tl.dot(tl.load(a), tl.load(b))
        a += STEP
        b += STEP * stride_bk
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], sums.to(tl.float16))
