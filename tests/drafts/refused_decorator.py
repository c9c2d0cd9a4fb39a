"""A kernel that Triton does not accept at import: from 3.3 on the key must name its arguments."""

import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 64})], key=["COLUMNS"])
@triton.jit
def keyed(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)
