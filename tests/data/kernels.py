"""Small kernels: one that compiles, and one for each way to fail that needs a kernel of its own."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)


@triton.jit
def undefined(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, nowhere + offsets)  # noqa: F821 - what it is for


@triton.jit
def bad_asm(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=x,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x_ptr + offsets, y)


@triton.jit
def dot(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    inner = tl.arange(0, DEPTH)
    a = tl.load(a_ptr + rows[:, None] * DEPTH + inner[None, :])
    b = tl.load(b_ptr + inner[:, None] * BLOCK + rows[None, :])
    tl.store(c_ptr + rows[:, None] * BLOCK + rows[None, :], tl.dot(a, b))
