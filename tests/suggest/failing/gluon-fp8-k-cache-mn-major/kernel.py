from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, warpgroup_mma, warpgroup_mma_wait


@gluon.jit
def scores_tile(q_ptr, k_ptr, s_ptr, stride_q, stride_k, stride_s, BLOCK_Q: gl.constexpr, BLOCK_KV: gl.constexpr,
                HEAD_DIM: gl.constexpr, COPY: gl.constexpr, SMEM_Q: gl.constexpr, SMEM_K: gl.constexpr,
                ACC: gl.constexpr):
    """One tile of Q K^T, K cached with the head dimension outermost ([HEAD_DIM, seqlen])."""
    qm = gl.arange(0, BLOCK_Q, layout=gl.SliceLayout(1, COPY))
    qd = gl.arange(0, HEAD_DIM, layout=gl.SliceLayout(0, COPY))
    kd = gl.arange(0, HEAD_DIM, layout=gl.SliceLayout(1, COPY))
    kn = gl.arange(0, BLOCK_KV, layout=gl.SliceLayout(0, COPY))
    q = gl.load(q_ptr + qm[:, None] * stride_q + qd[None, :])
    k = gl.load(k_ptr + kd[:, None] * stride_k + kn[None, :])
    q_smem = gl.allocate_shared_memory(q.dtype, [BLOCK_Q, HEAD_DIM], SMEM_Q, q)
    k_smem = gl.allocate_shared_memory(k.dtype, [HEAD_DIM, BLOCK_KV], SMEM_K, k)
    fence_async_shared()
    s = gl.zeros([BLOCK_Q, BLOCK_KV], gl.float32, layout=ACC)
    s = warpgroup_mma(q_smem, k_smem, s, is_async=True)
    s = warpgroup_mma_wait(0, deps=[s])
    sm = gl.arange(0, BLOCK_Q, layout=gl.SliceLayout(1, ACC))
    sn = gl.arange(0, BLOCK_KV, layout=gl.SliceLayout(0, ACC))
    gl.store(s_ptr + sm[:, None] * stride_s + sn[None, :], s)
