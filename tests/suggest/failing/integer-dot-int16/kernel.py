import triton
import triton.language as tl


@triton.jit
def dgemm(a_ptr, b_ptr, c_ptr, M, N, K, lda, ldb, ldc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
          ACC: tl.constexpr, TRANS_B: tl.constexpr):
    """C = A @ B (or A @ B^T) with an accumulator of the caller's choice."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], dtype=ACC)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rm[:, None] * lda + (k + rk)[None, :])
        if TRANS_B:
            b = tl.trans(tl.load(b_ptr + rn[:, None] * ldb + (k + rk)[None, :]))
        else:
            b = tl.load(b_ptr + (k + rk)[:, None] * ldb + rn[None, :])
        acc = tl.dot(a, b, acc, out_dtype=ACC)
    tl.store(c_ptr + rm[:, None] * ldc + rn[None, :], acc.to(c_ptr.dtype.element_ty),
             mask=(rm[:, None] < M) & (rn[None, :] < N))
