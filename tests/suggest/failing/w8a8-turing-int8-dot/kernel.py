import triton
import triton.language as tl


@triton.jit
def w8a8_gemm(x_ptr, w_ptr, y_ptr, x_scale_ptr, w_scale_ptr, M, N, K, stride_xm, stride_wk, stride_ym,
              BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr,
              GROUP_SIZE_M: tl.constexpr):
    """Y[M, N] = dequant(X[M, K] @ W[K, N]); per-token and per-channel scales."""
    pid = tl.program_id(0)
    num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
    width = GROUP_SIZE_M * num_pid_n
    group_id = pid // width
    group_size = min(num_pid_m - group_id * GROUP_SIZE_M, GROUP_SIZE_M)
    pid_m = group_id * GROUP_SIZE_M + (pid % group_size)
    pid_n = (pid % width) // group_size
    rm = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    rn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    rk = tl.arange(0, BLOCK_SIZE_K)
    xp = x_ptr + rm[:, None] * stride_xm + rk[None, :]
    wp = w_ptr + rk[:, None] * stride_wk + rn[None, :]
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.int32)
    for k in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        x = tl.load(xp)
        w = tl.load(wp)
        acc += tl.dot(x, w, out_dtype=tl.int32)
        xp += BLOCK_SIZE_K
        wp += BLOCK_SIZE_K * stride_wk
    xs = tl.load(x_scale_ptr + rm, mask=rm < M, other=0.0)
    ws = tl.load(w_scale_ptr + rn, mask=rn < N, other=0.0)
    y = acc.to(tl.float32) * xs[:, None] * ws[None, :]
    tl.store(y_ptr + rm[:, None] * stride_ym + rn[None, :], y.to(y_ptr.dtype.element_ty),
             mask=(rm[:, None] < M) & (rn[None, :] < N))
