"""The last stride of a descriptor must be 1, and this matrix is described column-major."""

import triton
import triton.language as tl


@triton.jit
def copy_tile(x_ptr, y_ptr, M, N, LEADING: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [M, N], [1, LEADING], [ROWS, COLUMNS])
    target = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [ROWS, COLUMNS])
    target.store([0, 0], source.load([0, 0]))
