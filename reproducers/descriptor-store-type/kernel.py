"""A block of fp16 is stored through a descriptor of fp32 data."""

import triton
import triton.language as tl


@triton.jit
def widen(x_ptr, y_ptr, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [ROWS, COLUMNS])
    target = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [ROWS, COLUMNS])
    block = source.load([tl.program_id(0) * ROWS, 0])
    target.store([tl.program_id(0) * ROWS, 0], block)
