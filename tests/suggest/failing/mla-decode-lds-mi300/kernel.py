import triton
import triton.language as tl


@triton.jit
def gqa_decode_stage1(Q, K, V, Mid_O, Mid_LSE, k_scale_ptr, seqlen, sm_scale, stride_kn, stride_vn,
                      GROUP: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr, ROPE_DIM: tl.constexpr,
                      UPCAST_KV: tl.constexpr):
    """Split-KV decoding for one KV head; latent and rotary parts of the key are loaded apart (MLA layout)."""
    split = tl.program_id(0)
    g = tl.arange(0, GROUP)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, HEAD_DIM)
    r = tl.arange(0, ROPE_DIM)
    q = tl.load(Q + g[:, None] * (HEAD_DIM + ROPE_DIM) + d[None, :])
    qr = tl.load(Q + g[:, None] * (HEAD_DIM + ROPE_DIM) + HEAD_DIM + r[None, :])
    m_i = tl.full([GROUP], float("-inf"), tl.float32)
    l_i = tl.zeros([GROUP], tl.float32)
    acc = tl.zeros([GROUP, HEAD_DIM], tl.float32)
    for start in range(0, seqlen, BLOCK_N):
        kn = start + n
        ok = kn < seqlen
        k = tl.load(K + kn[None, :] * stride_kn + d[:, None], mask=ok[None, :], other=0.0)
        kr = tl.load(K + kn[None, :] * stride_kn + HEAD_DIM + r[:, None], mask=ok[None, :], other=0.0)
        v = tl.load(V + kn[:, None] * stride_vn + d[None, :], mask=ok[:, None], other=0.0)
        ks = tl.load(k_scale_ptr + kn, mask=ok, other=1.0)
        if UPCAST_KV:
            k = k.to(q.dtype)
            kr = kr.to(q.dtype)
            v = v.to(q.dtype)
        qk = tl.dot(q, k)
        qk = tl.dot(qr, kr, qk) * sm_scale * ks[None, :]
        qk = tl.where(ok[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_new
    tl.store(Mid_O + split * GROUP * HEAD_DIM + g[:, None] * HEAD_DIM + d[None, :], acc / l_i[:, None])
    tl.store(Mid_LSE + split * GROUP + g, m_i + tl.log(l_i))
