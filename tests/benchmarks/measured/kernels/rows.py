"""Kernels that go along rows or columns: norms, softmax, losses, reductions, scans."""

import triton
import triton.language as tl


@triton.jit
def rms_norm_rows(
    x_ptr, w_ptr, y_ptr, rows, eps, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Whole rows in a block, several of them."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, COLUMNS)
    inside = (r < rows)[:, None]
    x = tl.load(x_ptr + r[:, None] * COLUMNS + c[None, :], mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x, axis=1) / COLUMNS + eps)
    y = x * scale[:, None] * tl.load(w_ptr + c).to(tl.float32)[None, :]
    tl.store(y_ptr + r[:, None] * COLUMNS + c[None, :], y.to(tl.bfloat16), mask=inside)


@triton.jit
def add_norm_quantise(
    x_ptr, residual_ptr, w_ptr, sum_ptr, q_ptr, scale_ptr, columns, eps, BLOCK: tl.constexpr,
):  # fmt: skip
    """residual + x, its rms norm, and the row as int8 with a scale: three passes over the row."""
    row = tl.program_id(0)
    at = row * columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total = tl.load(x_ptr + at + c).to(tl.float32) + tl.load(residual_ptr + at + c).to(tl.float32)
        squares += total * total
        tl.store(sum_ptr + at + c, total.to(tl.float16))
    factor = tl.rsqrt(tl.sum(squares, axis=0) / columns + eps)
    greatest = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total = tl.load(x_ptr + at + c).to(tl.float32) + tl.load(residual_ptr + at + c).to(tl.float32)
        greatest = tl.maximum(greatest, tl.abs(total * factor * tl.load(w_ptr + c).to(tl.float32)))
    scale = tl.max(greatest, axis=0) / 127.0
    tl.store(scale_ptr + row, scale)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total = tl.load(x_ptr + at + c).to(tl.float32) + tl.load(residual_ptr + at + c).to(tl.float32)
        y = total * factor * tl.load(w_ptr + c).to(tl.float32) / scale
        tl.store(q_ptr + at + c, tl.floor(y + 0.5).to(tl.int8))


@triton.jit
def layer_norm_backward(
    dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, rows,
    COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """dx of ROWS rows, one after the other; dw and db are summed in registers, then with atomics."""
    c = tl.arange(0, COLUMNS)
    w = tl.load(w_ptr + c).to(tl.float32)
    dw = tl.zeros((COLUMNS,), tl.float32)
    db = tl.zeros((COLUMNS,), tl.float32)
    for r in range(tl.program_id(0) * ROWS, (tl.program_id(0) + 1) * ROWS):
        x = tl.load(x_ptr + r * COLUMNS + c).to(tl.float32)
        dy = tl.load(dy_ptr + r * COLUMNS + c).to(tl.float32)
        rstd = tl.load(rstd_ptr + r)
        normal = (x - tl.load(mean_ptr + r)) * rstd
        scaled = dy * w
        first = tl.sum(normal * scaled, axis=0) / COLUMNS
        second = tl.sum(scaled, axis=0) / COLUMNS
        tl.store(dx_ptr + r * COLUMNS + c, ((scaled - normal * first - second) * rstd).to(tl.float16))
        dw += dy * normal
        db += dy
    tl.atomic_add(dw_ptr + c, dw)
    tl.atomic_add(db_ptr + c, db)


@triton.jit
def softmax_whole_row(
    x_ptr, y_ptr, stride, columns, BLOCK: tl.constexpr,
):  # fmt: skip
    """A row in one block, whose last part is masked off."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + c, mask=c < columns, other=float("-inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * stride + c, (e / tl.sum(e, axis=0)).to(tl.float16), mask=c < columns)


@triton.jit
def softmax_backward(
    y_ptr, dy_ptr, dx_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Two passes over ROWS rows at a time."""
    r = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None] * columns
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, columns, BLOCK):
        at = r + (start + tl.arange(0, BLOCK))[None, :]
        total += tl.load(y_ptr + at).to(tl.float32) * tl.load(dy_ptr + at).to(tl.float32)
    mean = tl.sum(total, axis=1)[:, None]
    for start in range(0, columns, BLOCK):
        at = r + (start + tl.arange(0, BLOCK))[None, :]
        y = tl.load(y_ptr + at).to(tl.float32)
        tl.store(dx_ptr + at, (y * (tl.load(dy_ptr + at).to(tl.float32) - mean)).to(tl.bfloat16))


@triton.jit
def cross_entropy(
    logit_ptr, label_ptr, loss_ptr, lse_ptr, vocabulary, BLOCK: tl.constexpr,
):  # fmt: skip
    """Loss of a row over a long vocabulary, with a running maximum."""
    row = tl.program_id(0).to(tl.int64)
    label = tl.load(label_ptr + row)
    highest = float("-inf")
    total = 0.0
    for start in range(0, vocabulary, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(logit_ptr + row * vocabulary + c, mask=c < vocabulary, other=float("-inf")).to(tl.float32)
        new = tl.maximum(highest, tl.max(x, axis=0))
        total = total * tl.exp(highest - new) + tl.sum(tl.exp(x - new), axis=0)
        highest = new
    lse = highest + tl.log(total)
    tl.store(lse_ptr + row, lse)
    tl.store(loss_ptr + row, lse - tl.load(logit_ptr + row * vocabulary + label).to(tl.float32))


@triton.jit
def column_sums(
    x_ptr, y_ptr, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """Sums down columns; PARTS programs share a column and add with atomics."""
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    share = rows // PARTS
    first = tl.program_id(1) * share
    total = tl.zeros((BLOCK_R, BLOCK_C), tl.float32)
    for start in range(first, first + share, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        total += tl.load(x_ptr + r[:, None] * columns + c[None, :]).to(tl.float32)
    tl.atomic_add(y_ptr + c, tl.sum(total, axis=0))


@triton.jit
def row_cumulative_sum(
    x_ptr, y_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Running sums along rows, block after block."""
    r = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None] * columns
    carry = tl.zeros((ROWS,), tl.float32)
    for start in range(0, columns, BLOCK):
        at = r + (start + tl.arange(0, BLOCK))[None, :]
        x = tl.load(x_ptr + at).to(tl.float32)
        tl.store(y_ptr + at, tl.cumsum(x, axis=1) + carry[:, None])
        carry += tl.sum(x, axis=1)


@triton.jit
def _compose(a, x, b, y):
    return a * b, x * b + y


@triton.jit
def linear_recurrence(
    a_ptr, x_ptr, h_ptr, T, CHANNELS, BLOCK_T: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """h[t] = a[t] h[t-1] + x[t] for each channel, as an associative scan over blocks of time."""
    batch = tl.program_id(1).to(tl.int64) * T * CHANNELS
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    t = tl.arange(0, BLOCK_T)
    last = tl.zeros((BLOCK_C,), tl.float32)
    for start in range(0, T, BLOCK_T):
        at = batch + (start + t)[:, None] * CHANNELS + c[None, :]
        a = tl.load(a_ptr + at)
        x = tl.load(x_ptr + at)
        product, h = tl.associative_scan((a, x), 0, _compose)
        h += product * last[None, :]
        tl.store(h_ptr + at, h)
        last = tl.sum(tl.where(t[:, None] == BLOCK_T - 1, h, 0.0), axis=0)


@triton.jit
def top_of_row(
    x_ptr, value_ptr, index_ptr, columns, BLOCK: tl.constexpr,
):  # fmt: skip
    """The greatest element of a long row and where it is."""
    row = tl.program_id(0).to(tl.int64)
    best = tl.full((BLOCK,), float("-inf"), tl.float32)
    where = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * columns + c).to(tl.float32)
        where = tl.where(x > best, c, where)
        best = tl.maximum(best, x)
    value, at = tl.max(best, axis=0, return_indices=True)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, tl.sum(tl.where(tl.arange(0, BLOCK) == at, where, 0), axis=0))


@triton.jit
def sort_rows(
    x_ptr, y_ptr, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Sorts short rows in registers."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = r[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(y_ptr + at, tl.sort(tl.load(x_ptr + at), dim=1))


@triton.jit
def column_normalise(
    x_ptr, y_ptr, rows, columns, eps, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """Batch norm: mean and variance down each column, then a second pass."""
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    total = tl.zeros((BLOCK_R, BLOCK_C), tl.float32)
    squares = tl.zeros((BLOCK_R, BLOCK_C), tl.float32)
    for start in range(0, rows, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        x = tl.load(x_ptr + r[:, None] * columns + c[None, :]).to(tl.float32)
        total += x
        squares += x * x
    mean = tl.sum(total, axis=0) / rows
    scale = tl.rsqrt(tl.sum(squares, axis=0) / rows - mean * mean + eps)
    for start in range(0, rows, BLOCK_R):
        r = start + tl.arange(0, BLOCK_R)
        x = tl.load(x_ptr + r[:, None] * columns + c[None, :]).to(tl.float32)
        tl.store(y_ptr + r[:, None] * columns + c[None, :], ((x - mean[None, :]) * scale[None, :]).to(tl.float16))


@triton.jit
def selective_scan(
    x_ptr, dt_ptr, a_ptr, b_ptr, c_ptr, y_ptr, T, CHANNELS, STATE: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """A state space model step by step: the state [BLOCK_C, STATE] stays in registers. Bound by latency."""
    batch = tl.program_id(1)
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    s = tl.arange(0, STATE)
    a = tl.load(a_ptr + c[:, None] * STATE + s[None, :])
    h = tl.zeros((BLOCK_C, STATE), tl.float32)
    for t in range(T):
        at = (batch * T + t) * CHANNELS + c
        dt = tl.load(dt_ptr + at).to(tl.float32)
        x = tl.load(x_ptr + at).to(tl.float32)
        b = tl.load(b_ptr + (batch * T + t) * STATE + s).to(tl.float32)
        out = tl.load(c_ptr + (batch * T + t) * STATE + s).to(tl.float32)
        h = tl.exp(dt[:, None] * a) * h + (dt * x)[:, None] * b[None, :]
        tl.store(y_ptr + at, tl.sum(h * out[None, :], axis=1).to(tl.bfloat16))


@triton.jit
def gelu_backward_bias(
    x_ptr, dy_ptr, dx_ptr, db_ptr, rows, columns, PARTS: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """The gradient of a gelu, and its sum down the columns."""
    c = tl.program_id(0) * BLOCK_C + tl.arange(0, BLOCK_C)
    share = rows // PARTS
    total = tl.zeros((BLOCK_C,), tl.float32)
    for start in range(tl.program_id(1) * share, (tl.program_id(1) + 1) * share, BLOCK_R):
        at = (start + tl.arange(0, BLOCK_R))[:, None] * columns + c[None, :]
        x = tl.load(x_ptr + at).to(tl.float32)
        cdf = 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))
        pdf = tl.exp(-0.5 * x * x) * 0.3989422804014327
        dx = tl.load(dy_ptr + at).to(tl.float32) * (cdf + x * pdf)
        tl.store(dx_ptr + at, dx.to(tl.bfloat16))
        total += tl.sum(dx, axis=0)
    tl.atomic_add(db_ptr + c, total)
