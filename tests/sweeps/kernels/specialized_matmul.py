"""A persistent-style matrix product through tensor descriptors, whose loop may be warp-specialized."""

import triton
import triton.language as tl


@triton.jit
def product(
    a_bytes,
    b_bytes,
    c_bytes,
    M,
    N,
    K,
    DTYPE: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    WS: tl.constexpr,
):
    a = tl.make_tensor_descriptor(a_bytes.to(tl.pointer_type(DTYPE)), [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_bytes.to(tl.pointer_type(DTYPE)), [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_bytes.to(tl.pointer_type(DTYPE)), [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=WS):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total.to(DTYPE))
