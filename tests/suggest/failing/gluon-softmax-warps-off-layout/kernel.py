from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def masked_softmax(x_ptr, bias_ptr, y_ptr, n_cols, ROWS: gl.constexpr, COLS: gl.constexpr, TILE: gl.constexpr,
                   BIAS: gl.constexpr, PAIR: gl.constexpr):
    """Softmax over rows with an additive column bias; PAIR swaps adjacent columns on the way out."""
    pid = gl.program_id(0)
    r = pid * ROWS + gl.arange(0, ROWS, layout=gl.SliceLayout(1, TILE))
    c = gl.arange(0, COLS, layout=gl.SliceLayout(0, TILE))
    cb = gl.arange(0, COLS, layout=BIAS)
    bias = gl.load(bias_ptr + cb)
    x = gl.load(x_ptr + r[:, None] * n_cols + c[None, :]).to(gl.float32)
    x = x + bias[None, :]
    x = gl.exp(x - gl.max(x, axis=1)[:, None])
    y = x / gl.sum(x, axis=1)[:, None]
    if PAIR:
        lo, hi = gl.split(y.reshape([ROWS, COLS // 2, 2]))
        y = gl.convert_layout(gl.join(hi, lo).reshape([ROWS, COLS]), TILE)
    gl.store(y_ptr + r[:, None] * n_cols + c[None, :], y.to(y_ptr.dtype.element_ty))
