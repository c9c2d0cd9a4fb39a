import triton
import triton.language as tl


@triton.jit
def _online(m_a, s_a, m_b, s_b):
    m = tl.maximum(m_a, m_b)
    return m, s_a * tl.exp(m_a - m) + s_b * tl.exp(m_b - m)


@triton.jit
def cross_entropy_fwd(logits_ptr, labels_ptr, loss_ptr, pred_ptr, vocab, stride, XBLOCK: tl.constexpr,
                      RBLOCK: tl.constexpr, ARG: tl.constexpr, SUM_DTYPE: tl.constexpr):
    """Cross-entropy of XBLOCK rows; a tuple reduction carries maximum and sum."""
    x = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    r = tl.arange(0, RBLOCK)
    m = r[None, :] < vocab
    z = tl.load(logits_ptr + x[:, None] * stride + r[None, :], mask=m, other=float("-inf")).to(tl.float32)
    one = tl.where(m, 1.0, 0.0).to(SUM_DTYPE)
    mx, sm = tl.reduce((z, one), 1, _online)
    lab = tl.load(labels_ptr + x)
    zl = tl.load(logits_ptr + x * stride + lab).to(tl.float32)
    tl.store(loss_ptr + x, mx + tl.log(sm.to(tl.float32)) - zl)
    if ARG:
        tl.store(pred_ptr + x, tl.argmax(z, axis=1))
