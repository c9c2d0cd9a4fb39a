"""Softmax and layer norm of rows that are held whole; the element type is a constexpr."""

import triton
import triton.language as tl


@triton.jit
def softmax(x_bytes, y_bytes, stride, DTYPE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    x_ptr = x_bytes.to(tl.pointer_type(DTYPE))
    y_ptr = y_bytes.to(tl.pointer_type(DTYPE))
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    where = rows[:, None] * stride + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + where).to(tl.float32)
    grown = tl.exp(x - tl.max(x, 1)[:, None])
    tl.store(y_ptr + where, (grown / tl.sum(grown, 1)[:, None]).to(DTYPE))


@triton.jit
def transposed_sum(x_ptr, y_ptr, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr, CHUNK: tl.constexpr):
    """Transposes a tile through shared memory and sums chunks of it."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    x = tl.load(x_ptr + rows[:, None] * stride + tl.arange(0, BLOCK)[None, :])
    turned = tl.reshape(tl.trans(x), (BLOCK // CHUNK, CHUNK, ROWS))
    sums = tl.sum(tl.sort(turned, 2), 1)
    tl.store(y_ptr + tl.arange(0, BLOCK // CHUNK)[:, None] * ROWS + tl.arange(0, ROWS)[None, :], sums)
