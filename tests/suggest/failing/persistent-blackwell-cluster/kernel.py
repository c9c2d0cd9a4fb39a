import triton
import triton.language as tl


@triton.jit
def persistent_linear(x_ptr, w_ptr, y_ptr, M, N, K, NUM_SMS: tl.constexpr, BLOCK_SIZE_M: tl.constexpr,
                      BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, FLATTEN: tl.constexpr,
                      WARP_SPECIALIZE: tl.constexpr, EPILOGUE_SUBTILE: tl.constexpr, W_KN: tl.constexpr):
    """Persistent Y = X W^T over tensor descriptors (W stored [N, K], or [K, N] when W_KN)."""
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_SIZE_M)
    tiles_n = tl.cdiv(N, BLOCK_SIZE_N)
    x_desc = tl.make_tensor_descriptor(x_ptr, [M, K], [K, 1], [BLOCK_SIZE_M, BLOCK_SIZE_K])
    if W_KN:
        w_desc = tl.make_tensor_descriptor(w_ptr, [K, N], [N, 1], [BLOCK_SIZE_K, BLOCK_SIZE_N])
    else:
        w_desc = tl.make_tensor_descriptor(w_ptr, [N, K], [K, 1], [BLOCK_SIZE_N, BLOCK_SIZE_K])
    OUT_N: tl.constexpr = BLOCK_SIZE_N // 2 if EPILOGUE_SUBTILE else BLOCK_SIZE_N
    y_desc = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [BLOCK_SIZE_M, OUT_N])
    for tile in tl.range(pid, tiles_m * tiles_n, NUM_SMS, flatten=FLATTEN, warp_specialize=WARP_SPECIALIZE):
        om = (tile // tiles_n) * BLOCK_SIZE_M
        on = (tile % tiles_n) * BLOCK_SIZE_N
        acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_SIZE_K):
            x = x_desc.load([om, k])
            if W_KN:
                acc = tl.dot(x, w_desc.load([k, on]), acc)
            else:
                acc = tl.dot(x, w_desc.load([on, k]).T, acc)
        if EPILOGUE_SUBTILE:
            acc = tl.reshape(acc, (BLOCK_SIZE_M, 2, BLOCK_SIZE_N // 2))
            lo, hi = tl.split(tl.permute(acc, (0, 2, 1)))
            y_desc.store([om, on], lo.to(y_ptr.dtype.element_ty))
            y_desc.store([om, on + OUT_N], hi.to(y_ptr.dtype.element_ty))
        else:
            y_desc.store([om, on], acc.to(y_ptr.dtype.element_ty))
