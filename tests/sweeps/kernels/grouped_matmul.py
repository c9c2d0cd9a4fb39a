"""Matrix products of several sizes in one launch, through descriptors that are made for each group."""

import triton
import triton.language as tl


@triton.jit
def grouped(
    a_bytes,
    b_bytes,
    c_ptr,
    sizes_ptr,
    GROUPS,
    N,
    K,
    DTYPE: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    a_ptr, b_ptr = a_bytes.to(tl.pointer_type(DTYPE)), b_bytes.to(tl.pointer_type(DTYPE))
    tile = tl.program_id(0)
    first = 0
    for group in range(GROUPS):
        rows = tl.load(sizes_ptr + group)
        across = tl.cdiv(N, BN)
        tiles = tl.cdiv(rows, BM) * across
        a = tl.make_tensor_descriptor(a_ptr + first * K, [rows, K], [K, 1], [BM, BK])
        b = tl.make_tensor_descriptor(b_ptr + group * N * K, [N, K], [K, 1], [BN, BK])
        while tile < tiles:
            row, column = tile // across * BM, tile % across * BN
            total = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
            at_rows, at_columns = first + row + tl.arange(0, BM), column + tl.arange(0, BN)
            tl.store(c_ptr + at_rows[:, None] * N + at_columns[None, :], total, mask=at_rows[:, None] < first + rows)
            tile += tl.num_programs(0)
        tile -= tiles
        first += rows
