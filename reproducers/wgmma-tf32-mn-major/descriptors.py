"""Loads through a TMA descriptor, under one name on every release.

3.0 to 3.3 load through a descriptor that the host made; from 3.4 on the kernel makes it from the pointer.
"""

import triton
import triton.language as tl

if hasattr(tl, "_experimental_descriptor_load"):

    @triton.jit
    def make_descriptor(pointer, rows, columns, BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr):
        return pointer

    @triton.jit
    def load_tile(descriptor, row, column, BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr):
        return tl._experimental_descriptor_load(descriptor, [row, column], [BLOCK_ROWS, BLOCK_COLUMNS], tl.float32)

else:

    @triton.jit
    def make_descriptor(pointer, rows, columns, BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr):
        return tl.make_tensor_descriptor(pointer, [rows, columns], [columns, 1], [BLOCK_ROWS, BLOCK_COLUMNS])

    @triton.jit
    def load_tile(descriptor, row, column, BLOCK_ROWS: tl.constexpr, BLOCK_COLUMNS: tl.constexpr):
        return descriptor.load([row, column])
