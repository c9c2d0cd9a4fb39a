"""A product of two matrices, unrolled by its tile (benchmark of isolation)."""

import cutlass
from cutlass import cute


@cute.kernel
def multiply(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, rows: cutlass.Constexpr, depth: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    for row in cutlass.range_constexpr(rows):
        total = cutlass.Float32(0.0)
        for k in cutlass.range_constexpr(depth):
            total += a[block * rows + row, k].to(cutlass.Float32) * b[k, thread].to(cutlass.Float32)
        c[block * rows + row, thread] = total


@cute.jit
def product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, ROWS: cutlass.Constexpr, DEPTH: cutlass.Constexpr):
    multiply(a, b, c, ROWS, DEPTH).launch(grid=(64 // ROWS, 1, 1), block=(64, 1, 1))
