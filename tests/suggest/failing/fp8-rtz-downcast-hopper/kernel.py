import triton
import triton.language as tl


@triton.jit
def quantize_rowwise(x_ptr, q_ptr, s_ptr, n_cols, stride_x, FP8_MAX: tl.constexpr, BLOCK_SIZE: tl.constexpr,
                     ROUNDING: tl.constexpr, WIDE: tl.constexpr):
    """Row-wise dynamic quantisation: scale = amax / FP8_MAX."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * stride_x + cols, mask=mask, other=0.0)
    if WIDE:
        x = x.to(tl.float32)
    amax = tl.max(tl.abs(x), axis=0)
    scale = tl.maximum(amax.to(tl.float32), 1e-12) / FP8_MAX
    y = x / scale.to(x.dtype)
    y = tl.minimum(tl.maximum(y, -FP8_MAX), FP8_MAX)
    if ROUNDING == "none":
        q = y.to(q_ptr.dtype.element_ty)
    else:
        q = y.to(q_ptr.dtype.element_ty, fp_downcast_rounding=ROUNDING)
    tl.store(q_ptr + row * n_cols + cols, q, mask=mask)
    tl.store(s_ptr + row, scale)
