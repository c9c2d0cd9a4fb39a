"""Kernels bound by memory: element by element, gathers, transposes, histograms."""

import triton
import triton.language as tl


@triton.jit
def rotary_embedding(
    x_ptr, cos_ptr, sin_ptr, y_ptr, T, HEADS, HALF: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_H: tl.constexpr,
):  # fmt: skip
    """Rotates the two halves of a head; [batch, T, HEADS, 2 * HALF], tables [T, HALF]."""
    batch = tl.program_id(1)
    t = (tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T))[:, None, None]
    c = tl.arange(0, HALF)[None, None, :]
    cos = tl.load(cos_ptr + t * HALF + c)
    sin = tl.load(sin_ptr + t * HALF + c)
    for first in range(0, HEADS, BLOCK_H):
        h = (first + tl.arange(0, BLOCK_H))[None, :, None]
        at = ((batch * T + t) * HEADS + h) * (2 * HALF) + c
        low = tl.load(x_ptr + at).to(tl.float32)
        high = tl.load(x_ptr + at + HALF).to(tl.float32)
        tl.store(y_ptr + at, (low * cos - high * sin).to(tl.bfloat16))
        tl.store(y_ptr + at + HALF, (high * cos + low * sin).to(tl.bfloat16))


@triton.jit
def swiglu_rows(
    x_ptr, y_ptr, columns, BLOCK: tl.constexpr,
):  # fmt: skip
    """silu(left half) * right half of each row."""
    row = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = c < columns
    gate = tl.load(x_ptr + row * 2 * columns + c, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(x_ptr + row * 2 * columns + columns + c, mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * columns + c, (gate * tl.sigmoid(gate) * up).to(tl.float16), mask=inside)


@triton.jit
def transpose_cast(
    x_ptr, y_ptr, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[c, r] = x[r, c], fp32 to bf16."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    x = tl.load(x_ptr + r[:, None] * columns + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < columns))
    y = tl.trans(x).to(tl.bfloat16)
    tl.store(y_ptr + c[:, None] * rows + r[None, :], y, mask=(c[:, None] < columns) & (r[None, :] < rows))


@triton.jit
def embedding_rows(
    table_ptr, index_ptr, y_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Rows of a table by index."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    index = tl.load(index_ptr + r).to(tl.int64)
    for start in range(0, columns, BLOCK):
        c = (start + tl.arange(0, BLOCK))[None, :]
        tl.store(y_ptr + r[:, None] * columns + c, tl.load(table_ptr + index[:, None] * columns + c))


@triton.jit
def histogram_bytes(
    x_ptr, count_ptr, elements, BINS: tl.constexpr, BLOCK: tl.constexpr, STEPS: tl.constexpr,
):  # fmt: skip
    """Counts of small integers: a histogram of each block, then atomics."""
    total = tl.zeros((BINS,), tl.int32)
    first = tl.program_id(0) * BLOCK * STEPS
    for step in range(0, STEPS):
        x = tl.load(x_ptr + first + step * BLOCK + tl.arange(0, BLOCK)).to(tl.int32)
        total += tl.histogram(x, BINS)
    tl.atomic_add(count_ptr + tl.arange(0, BINS), total)


@triton.jit
def adam_step(
    p_ptr, g_ptr, m_ptr, v_ptr, out_ptr, elements, rate, beta1, beta2, eps, BLOCK: tl.constexpr,
):  # fmt: skip
    """One step of Adam with moments that are read only: four arrays in, one out."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < elements
    g = tl.load(g_ptr + i, mask=inside, other=0.0).to(tl.float32)
    m = beta1 * tl.load(m_ptr + i, mask=inside, other=0.0) + (1.0 - beta1) * g
    v = beta2 * tl.load(v_ptr + i, mask=inside, other=0.0) + (1.0 - beta2) * g * g
    p = tl.load(p_ptr + i, mask=inside, other=0.0)
    tl.store(out_ptr + i, p - rate * m / (tl.sqrt(v) + eps), mask=inside)


@triton.jit
def dropout_gelu(
    x_ptr, y_ptr, elements, keep, seed, BLOCK: tl.constexpr,
):  # fmt: skip
    """Random numbers and tanh for each element: bound by instructions rather than memory."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < elements, other=0.0).to(tl.float32)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    y = x * tl.sigmoid(2.0 * inner)
    kept = tl.rand(seed, i) < keep
    tl.store(y_ptr + i, tl.where(kept, y / keep, 0.0).to(tl.float16), mask=i < elements)


@triton.jit
def quantise_fp8_groups(
    x_ptr, q_ptr, scale_ptr, groups, ROWS: tl.constexpr,
):  # fmt: skip
    """fp8 with a scale for each 128 elements."""
    g = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = g[:, None] * 128 + tl.arange(0, 128)[None, :]
    x = tl.load(x_ptr + at).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x), axis=1), 1e-6) / 448.0
    tl.store(q_ptr + at, (x / scale[:, None]).to(tl.float8e4nv))
    tl.store(scale_ptr + g, scale)


@triton.jit
def causal_conv1d(
    x_ptr, w_ptr, y_ptr, T, CHANNELS, BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """A depthwise convolution over the last four steps, then silu; [batch, T, CHANNELS]."""
    batch = tl.program_id(2) * T * CHANNELS
    t = tl.program_id(0) * BLOCK_T + tl.arange(0, BLOCK_T)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    total = tl.zeros((BLOCK_T, BLOCK_C), tl.float32)
    for tap in tl.static_range(4):
        earlier = t - 3 + tap
        x = tl.load(x_ptr + batch + earlier[:, None] * CHANNELS + c[None, :], mask=earlier[:, None] >= 0, other=0.0)
        total += x.to(tl.float32) * tl.load(w_ptr + tap * CHANNELS + c).to(tl.float32)[None, :]
    y = total * tl.sigmoid(total)
    tl.store(y_ptr + batch + t[:, None] * CHANNELS + c[None, :], y.to(tl.bfloat16))


@triton.jit
def transpose_add_fp16(
    x_ptr, z_ptr, y_ptr, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[c, r] = x[r, c] + z[r, c]."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    at = r[:, None] * columns + c[None, :]
    total = tl.load(x_ptr + at).to(tl.float32) + tl.load(z_ptr + at).to(tl.float32)
    tl.store(y_ptr + c[:, None] * rows + r[None, :], tl.trans(total).to(tl.float16))


@triton.jit
def embedding_gradient(
    dy_ptr, index_ptr, dw_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adds rows to the rows of a table that an index names, with atomics."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + r)
    dy = tl.load(dy_ptr + r[:, None] * columns + c[None, :]).to(tl.float32)
    tl.atomic_add(dw_ptr + index[:, None] * columns + c[None, :], dy)


@triton.jit
def sparse_rows(
    index_ptr, value_ptr, x_ptr, y_ptr, COLUMNS: tl.constexpr, PER_ROW: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A sparse matrix with PER_ROW elements in each row, times a dense one: dependent gathers."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for i in range(PER_ROW):
        index = tl.load(index_ptr + r * PER_ROW + i)
        value = tl.load(value_ptr + r * PER_ROW + i)
        total += value[:, None] * tl.load(x_ptr + index[:, None] * COLUMNS + c[None, :]).to(tl.float32)
    tl.store(y_ptr + r[:, None] * COLUMNS + c[None, :], total.to(tl.float16))


@triton.jit
def max_pool_nhwc(
    x_ptr, y_ptr, H, W, C, BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """2x2 pixels to their greatest, 3x3 windows with padding 1."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    half_h = H // 2
    half_w = W // 2
    image = p // (half_h * half_w)
    row = (p // half_w) % half_h * 2
    column = p % half_w * 2
    best = tl.full((BLOCK_P, BLOCK_C), float("-inf"), tl.float16)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            y = row + i - 1
            x = column + j - 1
            inside = (y >= 0) & (y < H) & (x >= 0) & (x < W)
            at = ((image * H + y) * W + x)[:, None] * C + c[None, :]
            best = tl.maximum(best, tl.load(x_ptr + at, mask=inside[:, None], other=float("-inf")))
    tl.store(y_ptr + p[:, None] * C + c[None, :], best)


@triton.jit
def body_forces(
    x_ptr, y_ptr, z_ptr, out_ptr, bodies, softening, BLOCK_I: tl.constexpr, BLOCK_J: tl.constexpr,
):  # fmt: skip
    """The potential of each body in the field of all: arithmetic only."""
    i = tl.program_id(0) * BLOCK_I + tl.arange(0, BLOCK_I)
    xi = tl.load(x_ptr + i)[:, None]
    yi = tl.load(y_ptr + i)[:, None]
    zi = tl.load(z_ptr + i)[:, None]
    total = tl.zeros((BLOCK_I,), tl.float32)
    for start in range(0, bodies, BLOCK_J):
        j = start + tl.arange(0, BLOCK_J)
        dx = tl.load(x_ptr + j)[None, :] - xi
        dy = tl.load(y_ptr + j)[None, :] - yi
        dz = tl.load(z_ptr + j)[None, :] - zi
        total += tl.sum(tl.rsqrt(dx * dx + dy * dy + dz * dz + softening), axis=1)
    tl.store(out_ptr + i, total)
