import triton
import triton.language as tl


@triton.jit
def dropout_residual(x_ptr, res_ptr, y_ptr, p, seed, n, BLOCK: tl.constexpr, RNG: tl.constexpr,
                     OFFSET_DTYPE: tl.constexpr, STEPS: tl.constexpr):
    """y = dropout(x, p) + residual, four elements from each Philox call."""
    pid = tl.program_id(0)
    if RNG == "rand4x":
        q: tl.constexpr = BLOCK // 4
        o = (pid * q + tl.arange(0, q)).to(OFFSET_DTYPE)
        r0, r1, r2, r3 = tl.rand4x(seed, o)
        rnd = tl.reshape(tl.join(tl.join(r0, r1), tl.join(r2, r3)), (BLOCK,))
    else:
        o = (pid * BLOCK + tl.arange(0, BLOCK)).to(OFFSET_DTYPE)
        rnd = tl.rand(seed, o)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    x = tl.load(x_ptr + i, mask=m, other=0.0)
    keep = rnd > p
    y = tl.where(keep, x / (1.0 - p), 0.0)
    for _ in tl.static_range(STEPS):
        y = y * 1.0001
    tl.store(y_ptr + i, y + tl.load(res_ptr + i, mask=m, other=0.0), mask=m)
