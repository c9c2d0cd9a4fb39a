"""The order is one of PTX."""

import triton
import triton.language as tl


@triton.jit
def count(x_ptr):
    tl.atomic_add(x_ptr, 1, sem="acq_rel")
