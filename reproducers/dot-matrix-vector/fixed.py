"""The product with a vector is a sum along the rows."""

import triton
import triton.language as tl


@triton.jit
def matrix_vector(a_ptr, x_ptr, y_ptr, M: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, M)
    inner = tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + inner[None, :])
    x = tl.load(x_ptr + inner)
    tl.store(y_ptr + rows, tl.sum(a.to(tl.float32) * x[None, :], 1))
