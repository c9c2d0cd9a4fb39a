import triton
import triton.language as tl


@triton.jit
def gelu_tanh_fwd(x_ptr, y_ptr, n_elements, XBLOCK: tl.constexpr, FAST_TANH: tl.constexpr):
    """GELU (tanh form) that keeps the activations in their 16-bit type around the hardware tanh."""
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)
    xmask = xindex < n_elements
    x = tl.load(x_ptr + xindex, xmask, other=0.0)
    xf = x.to(tl.float32)
    inner = 0.7978845608 * (xf + 0.044715 * xf * xf * xf)
    if FAST_TANH == "pair":
        t16 = tl.inline_asm_elementwise(
            "tanh.approx.bf16x2 $0, $1;", "=r,r", [inner.to(tl.bfloat16)],
            dtype=tl.bfloat16, is_pure=True, pack=2)
        th = t16.to(tl.float32)
    elif FAST_TANH == "single":
        th = tl.inline_asm_elementwise("tanh.approx.f32 $0, $1;", "=f,f", [inner],
                                       dtype=tl.float32, is_pure=True, pack=1)
    else:
        e = tl.exp(2.0 * inner)
        th = 1.0 - 2.0 / (e + 1.0)
    y = 0.5 * xf * (1.0 + th)
    tl.store(y_ptr + xindex, y.to(y_ptr.dtype.element_ty), xmask)
