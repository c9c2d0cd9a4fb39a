"""3.9 has no block pointers any more."""

import triton
import triton.language as tl


@triton.jit
def copy_tile(x_ptr, y_ptr, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (0, 0), (ROWS, COLUMNS), (1, 0))
    target = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (0, 0), (ROWS, COLUMNS), (1, 0))
    tl.store(target, tl.load(source, boundary_check=(0, 1)), boundary_check=(0, 1))
