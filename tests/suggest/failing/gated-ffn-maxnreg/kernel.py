import triton
import triton.language as tl


@triton.jit
def ffn_up(x_ptr, w_ptr, o_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
           GATED: tl.constexpr):
    """Up projection with an optional SiLU gate, both halves accumulated in one pass over X."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rk = tl.arange(0, BLOCK_K)
    xp = x_ptr + rm[:, None] * K + rk[None, :]
    wp = w_ptr + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    gate = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        x = tl.load(xp)
        acc = tl.dot(x, tl.load(wp), acc)
        if GATED:
            gate = tl.dot(x, tl.load(wp + N * K), gate)
        xp += BLOCK_K
        wp += BLOCK_K
    if GATED:
        acc = acc * (gate * tl.sigmoid(gate))
    tl.store(o_ptr + rm[:, None] * N + rn[None, :], acc.to(o_ptr.dtype.element_ty),
             mask=(rm[:, None] < M) & (rn[None, :] < N))
