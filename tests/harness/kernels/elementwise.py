"""One load, one sum, one store: compiles on every release for every target."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) + 1, mask=inside)


@triton.jit
def wrong_shapes(x_ptr, y_ptr, BLOCK: tl.constexpr):
    left = tl.load(x_ptr + tl.arange(0, BLOCK))
    right = tl.load(x_ptr + tl.arange(0, 2 * BLOCK))
    tl.store(y_ptr + tl.arange(0, BLOCK), left + right)


@triton.jit
def fused_integers(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """math.fma of integers: the front-end builds it, MLIR's verifier refuses it."""
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(y_ptr + offsets, tl.fma(x, x, x))


@triton.jit
def float_xor(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """A bitwise atomic on floats: no front-end refuses it, and AMD's lowering finds that LLVM has no such thing."""
    # An offset that may be negative keeps the compiler from buffer instructions, which fail later and elsewhere.
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.atomic_xor(y_ptr + offsets % 16, x, mask=x > 0, sem="relaxed")
