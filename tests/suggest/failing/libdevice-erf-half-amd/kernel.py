import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def gelu_backward(dy_ptr, x_ptr, dx_ptr, n, BLOCK_SIZE: tl.constexpr, APPROX: tl.constexpr):
    """dX of GELU: exact with erf, or by the tanh form."""
    idx = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = idx < n
    x = tl.load(x_ptr + idx, mask=mask, other=0.0)
    dy = tl.load(dy_ptr + idx, mask=mask, other=0.0).to(tl.float32)
    if APPROX == "tanh":
        xf = x.to(tl.float32)
        u = 0.7978845608028654 * xf * (1.0 + 0.044715 * xf * xf)
        t = libdevice.tanh(u)
        du = 0.7978845608028654 * (1.0 + 3.0 * 0.044715 * xf * xf)
        d = 0.5 * (1.0 + t) + 0.5 * xf * (1.0 - t * t) * du
    elif APPROX == "normcdf":
        xf = x.to(tl.float32)
        d = libdevice.normcdf(xf) + xf * tl.exp(-0.5 * xf * xf) * 0.3989422804014327
    else:
        cdf = 0.5 * (1.0 + libdevice.erf(x * 0.7071067811865476))
        xf = x.to(tl.float32)
        d = cdf + xf * tl.exp(-0.5 * xf * xf) * 0.3989422804014327
    tl.store(dx_ptr + idx, (dy * d).to(dx_ptr.dtype.element_ty), mask=mask)
