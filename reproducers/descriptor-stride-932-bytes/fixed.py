"""Rows are padded to 472 elements, 944 bytes."""

import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, rows, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [rows, COLUMNS], [472, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(y_ptr, [rows, COLUMNS], [472, 1], [BLOCK, BLOCK])
    target.store([0, 0], source.load([0, 0]))
