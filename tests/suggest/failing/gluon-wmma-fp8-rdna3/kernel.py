from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import rdna3


@gluon.jit
def wmma_linear(x_ptr, w_ptr, y_ptr, K, stride_x, stride_w, stride_y, BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr,
                BLOCK_K: gl.constexpr, LOAD: gl.constexpr, WMMA: gl.constexpr, K_WIDTH: gl.constexpr):
    """Y = X W for one tile on RDNA."""
    pm = gl.program_id(0) * BLOCK_M
    pn = gl.program_id(1) * BLOCK_N
    xm = gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, LOAD))
    xk = gl.arange(0, BLOCK_K, layout=gl.SliceLayout(0, LOAD))
    wk = gl.arange(0, BLOCK_K, layout=gl.SliceLayout(1, LOAD))
    wn = gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, LOAD))
    xp = x_ptr + (pm + xm)[:, None] * stride_x + xk[None, :]
    wp = w_ptr + wk[:, None] * stride_w + (pn + wn)[None, :]
    acc = gl.zeros([BLOCK_M, BLOCK_N], gl.float32, layout=WMMA)
    for k in range(0, K, BLOCK_K):
        x = gl.convert_layout(gl.load(xp), gl.DotOperandLayout(0, WMMA, K_WIDTH))
        w = gl.convert_layout(gl.load(wp), gl.DotOperandLayout(1, WMMA, K_WIDTH))
        acc = rdna3.wmma(x, w, acc)
        xp += BLOCK_K
        wp += BLOCK_K * stride_w
    ym = gl.arange(0, BLOCK_M, layout=gl.SliceLayout(1, WMMA))
    yn = gl.arange(0, BLOCK_N, layout=gl.SliceLayout(0, WMMA))
    gl.store(y_ptr + (pm + ym)[:, None] * stride_y + (pn + yn)[None, :], acc.to(y_ptr.dtype.element_ty))
