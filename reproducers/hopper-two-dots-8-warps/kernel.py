"""The result of one dot is scaled and goes into another. With eight warps on a 64x64 tile the two spread their warps differently,
and up to 3.1 Hopper has no conversion between the two layouts.
"""

import triton
import triton.language as tl


@triton.jit
def chained(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)[:, None]
    columns = tl.arange(0, BLOCK)[None, :]
    a = tl.load(a_ptr + rows * BLOCK + columns)
    b = tl.load(b_ptr + rows * BLOCK + columns)
    p = tl.dot(a, b)
    alpha = tl.load(c_ptr + tl.arange(0, BLOCK))
    c = tl.dot(p.to(tl.float16), b, p * alpha[:, None])
    tl.store(c_ptr + rows * BLOCK + columns, c)
