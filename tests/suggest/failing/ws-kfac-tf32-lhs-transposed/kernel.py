import triton
import triton.language as tl


@triton.jit
def kfac_factor(act_ptr, cov_ptr, T, D, inv_t, BD: tl.constexpr, BT: tl.constexpr, WS: tl.constexpr):
    """Activation covariance A^T A / T for K-FAC, one BD x BD tile; activations are [tokens, features]."""
    pi = tl.program_id(0)
    pj = tl.program_id(1)
    desc = tl.make_tensor_descriptor(act_ptr, [T, D], [D, 1], [BT, BD])
    acc = tl.zeros((BD, BD), dtype=tl.float32)
    for t in tl.range(0, T, BT, warp_specialize=WS):
        left = desc.load([t, pi * BD])
        right = desc.load([t, pj * BD])
        acc = tl.dot(left.T, right, acc)
    acc *= inv_t
    i = pi * BD + tl.arange(0, BD)
    j = pj * BD + tl.arange(0, BD)
    m = (i[:, None] < D) & (j[None, :] < D)
    tl.store(cov_ptr + i[:, None] * D + j[None, :], acc, mask=m)
