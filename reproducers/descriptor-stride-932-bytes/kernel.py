"""466 fp16 are 932 bytes, which 16 does not divide."""

import triton
import triton.language as tl


@triton.jit
def copy(x_ptr, y_ptr, rows, COLUMNS: tl.constexpr, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [rows, COLUMNS], [COLUMNS, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(y_ptr, [rows, COLUMNS], [COLUMNS, 1], [BLOCK, BLOCK])
    target.store([0, 0], source.load([0, 0]))
