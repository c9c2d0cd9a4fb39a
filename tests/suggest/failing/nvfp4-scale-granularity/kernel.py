import triton
import triton.language as tl


@triton.jit
def mxfp_linear(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K,
                BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
                A_FMT: tl.constexpr, B_FMT: tl.constexpr, A_DIV: tl.constexpr, B_DIV: tl.constexpr,
                A_SCALED: tl.constexpr, B_K_PACKED: tl.constexpr):
    """Block-scaled GEMM, one scale for 32 elements of K."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rn = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K // 32)
    ka = tl.arange(0, BLOCK_K // A_DIV)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + rm[:, None] * (K // A_DIV) + (k // A_DIV + ka)[None, :])
        if A_SCALED:
            sa = tl.load(a_scale_ptr + rm[:, None] * (K // 32) + (k // 32 + ks)[None, :])
        else:
            sa = None
        sb = tl.load(b_scale_ptr + rn[:, None] * (K // 32) + (k // 32 + ks)[None, :])
        if B_K_PACKED:
            kb = tl.arange(0, BLOCK_K // B_DIV)
            b = tl.load(b_ptr + rn[None, :] * (K // B_DIV) + (k // B_DIV + kb)[:, None])
        else:
            kf = tl.arange(0, BLOCK_K)
            rp = pid_n * (BLOCK_N // B_DIV) + tl.arange(0, BLOCK_N // B_DIV)
            b = tl.load(b_ptr + (k + kf)[:, None] * (N // B_DIV) + rp[None, :])
        acc = tl.dot_scaled(a, sa, A_FMT, b, sb, B_FMT, acc, rhs_k_pack=B_K_PACKED)
    tl.store(c_ptr + rm[:, None] * N + rn[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(rm[:, None] < M) & (rn[None, :] < N))
