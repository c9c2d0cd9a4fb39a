"""The string chooses the number."""

import triton
import triton.language as tl


@triton.jit
def mark(y_ptr, NAME: tl.constexpr):
    tl.store(y_ptr, 1 if NAME == "gelu" else 0)
