import triton
import triton.language as tl


@triton.jit
def moe_down_proj(h_ptr, w_ptr, y_ptr, expert_of_tile_ptr, M, N, K, n_experts, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, NUM_SMS: tl.constexpr,
                  WARP_SPECIALIZE: tl.constexpr):
    """Persistent grouped GEMM Y = H W[e]; the experts' weights are stored [n_experts * K, N]."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    h_desc = tl.make_tensor_descriptor(h_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    w_desc = tl.make_tensor_descriptor(w_ptr, [n_experts * K, N], [N, 1], [BLOCK_K, BLOCK_N])
    y_desc = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, NUM_SMS, flatten=False,
                         warp_specialize=WARP_SPECIALIZE):
        tm = tile // tiles_n
        tn = tile % tiles_n
        e = tl.load(expert_of_tile_ptr + tm)
        acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            h = h_desc.load([tm * BLOCK_M, k])
            w = w_desc.load([e * K + k, tn * BLOCK_N])
            acc = tl.dot(h, w, acc)
        y_desc.store([tm * BLOCK_M, tn * BLOCK_N], acc.to(y_ptr.dtype.element_ty))
