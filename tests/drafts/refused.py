"""Kernels whose drafts need a correction, or cannot be mended by one."""

import triton
import triton.language as tl

SCALE = 2.0


@triton.jit
def gather(index, values, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    picked = tl.load(index + offsets, mask=offsets < n)
    tl.store(out + offsets, tl.load(values + picked))


@triton.jit
def product(a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    a = tl.load(a_ptr + rows * BLOCK + columns)
    b = tl.load(b_ptr + rows * BLOCK + columns)
    tl.store(c_ptr + rows * BLOCK + columns, tl.dot(a, b))


@triton.jit
def total(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    sums = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        sums = tl.load(x_ptr + start + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(sums, axis=0))


@triton.jit
def momentum(state_ptr, grad_ptr, step, rate, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    state = tl.load(state_ptr + offsets)
    grad = tl.load(grad_ptr + offsets)
    if step > 1:
        state = state * rate + grad
    tl.store(state_ptr + offsets, state)


@triton.jit
def unpacked(packed_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    packed = tl.load(packed_ptr + offsets)
    digits = (packed >> 4) & 15
    tl.store(out_ptr + offsets, digits.to(tl.float16))


@triton.jit
def branches(state_ptr, x_ptr, step, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    state = tl.load(state_ptr + offsets)
    if step == 1:
        state = tl.load(x_ptr + offsets)
    tl.store(state_ptr + offsets, state)


@triton.jit
def modes(x_ptr, MODE: tl.constexpr, BLOCK: tl.constexpr):
    if MODE == 3:
        value = 1.0
    elif MODE == 5:
        value = 2.0
    tl.store(x_ptr + tl.arange(0, BLOCK), value)


@triton.jit
def asserts_in_a_branch(x_ptr, WITH_A: tl.constexpr, WITH_B: tl.constexpr):
    if WITH_A:
        tl.static_assert(not WITH_B)
    tl.store(x_ptr, 1.0)


@triton.jit
def filled_in_by_a_wrapper(x_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :], 1.0)


@triton.jit
def names_nothing(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), nowhere)  # noqa: F821 - what it is for


@triton.jit
def reads_a_global(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * SCALE)


@triton.jit
def two_sizes(x_ptr, ROWS: tl.constexpr, HALF: tl.constexpr):
    tl.static_assert(ROWS == 3 * HALF)
    tl.store(x_ptr + tl.arange(0, HALF), 1.0)


@triton.autotune(
    [
        triton.Config({"BLOCK": 256}, num_warps=8),
        triton.Config({"BLOCK": 64}, num_warps=4),
        triton.Config({"BLOCK": 32}, num_warps=4),
    ],
    key=[],
)
@triton.heuristics({"EVEN": lambda arguments: arguments["BLOCK"] % 64 == 0})
@triton.jit
def tuned(a_ptr, b_ptr, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.static_assert(BLOCK <= 64)
    offsets = tl.arange(0, BLOCK)
    tl.store(b_ptr + offsets, tl.load(a_ptr + offsets) if EVEN else 0.0)


@triton.autotune(
    [triton.Config({"BLOCK": block}, num_warps=warps) for warps in (4, 8) for block in (64, 128)],
    key=[],
)
@triton.jit
def staged(x_ptr, out_ptr, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    tl.static_assert(SIZE % BLOCK == 0, "SIZE has to fit BLOCK")
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@triton.jit
def wrapped(a_ptr, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(a_ptr + tl.arange(0, BLOCK), 1.0 if EVEN else 0.0)


with_heuristics = triton.heuristics({"EVEN": lambda arguments: arguments["BLOCK"] % 64 == 0})(wrapped)
tuned_small = triton.autotune([triton.Config({"BLOCK": 32})], key=[])(with_heuristics)
tuned_large = triton.autotune([triton.Config({"BLOCK": 64})], key=[])(with_heuristics)
