import triton
import triton.language as tl


@triton.jit
def flash_fwd(Q, K, V, O, LSE, sm_scale, stride_qm, stride_kn, stride_om, seqlen_q, seqlen_k,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_DMODEL: tl.constexpr, IS_CAUSAL: tl.constexpr,
              P_DTYPE: tl.constexpr):
    """Forward attention of one head, online softmax."""
    start_m = tl.program_id(0)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_DMODEL)
    q = tl.load(Q + offs_m[:, None] * stride_qm + offs_d[None, :], mask=offs_m[:, None] < seqlen_q, other=0.0)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_DMODEL], dtype=tl.float32)
    end_n = seqlen_k if not IS_CAUSAL else tl.minimum((start_m + 1) * BLOCK_M, seqlen_k)
    for start_n in range(0, end_n, BLOCK_N):
        kn = start_n + offs_n
        k = tl.load(K + kn[None, :] * stride_kn + offs_d[:, None], mask=kn[None, :] < seqlen_k, other=0.0)
        v = tl.load(V + kn[:, None] * stride_kn + offs_d[None, :], mask=kn[:, None] < seqlen_k, other=0.0)
        qk = tl.dot(q, k) * sm_scale
        if IS_CAUSAL:
            qk = tl.where(offs_m[:, None] >= kn[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(P_DTYPE), v.to(P_DTYPE))
        m_i = m_new
    tl.store(LSE + offs_m, m_i + tl.log(l_i), mask=offs_m < seqlen_q)
    acc = acc / l_i[:, None]
    tl.store(O + offs_m[:, None] * stride_om + offs_d[None, :], acc.to(O.dtype.element_ty),
             mask=offs_m[:, None] < seqlen_q)
