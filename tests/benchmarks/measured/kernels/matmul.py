"""Matrix products: layouts, element types, epilogues, and ways to share the work."""

import triton
import triton.language as tl


@triton.jit
def grouped_matmul_fp16(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_bk, stride_cm,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """Row-major operands, masked in K, tiles in groups of rows so that L2 holds them."""
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    group = pid // (GROUP_M * tiles_n)
    first = group * GROUP_M
    height = min(tiles_m - first, GROUP_M)
    tile_m = first + (pid % (GROUP_M * tiles_n)) % height
    tile_n = (pid % (GROUP_M * tiles_n)) // height
    rows = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + rows[:, None] * stride_am + inner[None, :]
    b_tile = b_ptr + inner[:, None] * stride_bk + columns[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        a = tl.load(a_tile, mask=inner[None, :] < left, other=0.0)
        b = tl.load(b_tile, mask=inner[:, None] < left, other=0.0)
        total = tl.dot(a, b, total)
        a_tile += BLOCK_K
        b_tile += BLOCK_K * stride_bk
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], total.to(tl.float16), mask=inside)


@triton.jit
def linear_gelu_bf16(
    x_ptr, w_ptr, bias_ptr, residual_ptr, y_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A linear layer with weights [N, K]; bias, gelu and a residual in the epilogue."""
    m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + m[:, None] * K + (start + k)[None, :])
        w = tl.load(w_ptr + n[None, :] * K + (start + k)[:, None])
        total += tl.dot(x, w)
    total += tl.load(bias_ptr + n)[None, :].to(tl.float32)
    total = 0.5 * total * (1.0 + tl.erf(total * 0.7071067811865476))
    at = m[:, None] * N + n[None, :]
    total += tl.load(residual_ptr + at).to(tl.float32)
    tl.store(y_ptr + at, total.to(tl.bfloat16))


@triton.jit
def weight_gradient_bf16(
    x_ptr, dy_ptr, dw_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """dw[m, n] = sum over k of x[k, m] dy[k, n]: both operands are stored with k outermost."""
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    m = (pid // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_tile = x_ptr + k[None, :] * M + m[:, None]
    dy_tile = dy_ptr + k[:, None] * N + n[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        total = tl.dot(tl.load(x_tile), tl.load(dy_tile), total)
        x_tile += BLOCK_K * M
        dy_tile += BLOCK_K * N
    tl.store(dw_ptr + m[:, None] * N + n[None, :], total)


@triton.jit
def matmul_fp8_rowwise(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """fp8 operands, B stored [N, K], a scale for each row of either."""
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    m = (pid % tiles_m) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (pid // tiles_m) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + m[:, None] * K + k[None, :]
    b_tile = b_ptr + n[None, :] * K + k[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
        a_tile += BLOCK_K
        b_tile += BLOCK_K
    total *= tl.load(a_scale_ptr + m)[:, None] * tl.load(b_scale_ptr + n)[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


@triton.jit
def matmul_fp8_blockwise(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """fp8 operands with a scale for 1x128 of A and 128x128 of B, applied to each partial product."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    groups = K // 128
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        at = step * BLOCK_K
        a = tl.load(a_ptr + m[:, None] * K + (at + k)[None, :])
        b = tl.load(b_ptr + n[None, :] * K + (at + k)[:, None])
        group = at // 128
        a_scale = tl.load(a_scale_ptr + m * groups + group)
        b_scale = tl.load(b_scale_ptr + (n // 128) * groups + group)
        total += tl.dot(a, b) * a_scale[:, None] * b_scale[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


@triton.jit
def matmul_tf32(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """fp32 operands, B stored [N, K], multiplied as tf32."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :], mask=(start + k)[None, :] < K, other=0.0)
        b = tl.load(b_ptr + n[None, :] * K + (start + k)[:, None], mask=(start + k)[:, None] < K, other=0.0)
        total = tl.dot(a, b, total, input_precision="tf32")
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


@triton.jit
def matmul_int8_scaled(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    """int8 operands, B stored [N, K], rescaled to fp16."""
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    width = GROUP_M * tiles_n
    m = ((pid // width) * GROUP_M + pid % GROUP_M) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = ((pid % width) // GROUP_M) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.int32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + n[None, :] * K + (start + k)[:, None])
        total += tl.dot(a, b)
    scale = tl.load(a_scale_ptr + m)[:, None] * tl.load(b_scale_ptr + n)[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], (total.to(tl.float32) * scale).to(tl.float16))


@triton.jit
def split_k_matmul(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT_K: tl.constexpr,
):  # fmt: skip
    """Few rows and a long K, which several programs share; they add their parts with atomics."""
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    m = (pid // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.program_id(1) * BLOCK_K + tl.arange(0, BLOCK_K)
    a_tile = a_ptr + m[:, None] * K + k[None, :]
    b_tile = b_ptr + k[:, None] * N + n[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K * SPLIT_K)):
        total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
        a_tile += BLOCK_K * SPLIT_K
        b_tile += BLOCK_K * SPLIT_K * N
    tl.atomic_add(c_ptr + m[:, None] * N + n[None, :], total)


@triton.jit
def batched_matmul_bf16(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_ab, stride_bb, stride_cb,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """One small product for each element of a batch; masked in all three extents."""
    batch = tl.program_id(2)
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_tile = a_ptr + batch * stride_ab + m[:, None] * K + k[None, :]
    b_tile = b_ptr + batch * stride_bb + k[:, None] * N + n[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_tile, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0.0)
        b = tl.load(b_tile, mask=(k[:, None] < K - start) & (n[None, :] < N), other=0.0)
        total = tl.dot(a, b, total)
        a_tile += BLOCK_K
        b_tile += BLOCK_K * N
    c_tile = c_ptr + batch * stride_cb + m[:, None] * N + n[None, :]
    tl.store(c_tile, total.to(tl.bfloat16), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def persistent_matmul_fp16(
    a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """One program for each multiprocessor, which goes through its share of the tiles."""
    tiles_n = tl.cdiv(N, BLOCK_N)
    tiles = tl.cdiv(M, BLOCK_M) * tiles_n
    k = tl.arange(0, BLOCK_K)
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        m = (tile // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
        n = (tile % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in range(0, K, BLOCK_K):
            a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
            b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :])
            total = tl.dot(a, b, total)
        tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def persistent_matmul_tma(
    a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, FLATTEN: tl.constexpr,
):  # fmt: skip
    """The same with tensor descriptors, B stored [N, K]."""
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles = tiles_m * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=FLATTEN):
        m = (tile % tiles_m) * BLOCK_M
        n = (tile // tiles_m) * BLOCK_N
        total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for start in range(0, K, BLOCK_K):
            a = a_desc.load([m, start])
            b = b_desc.load([n, start])
            total = tl.dot(a, b.T, total)
        c_desc.store([m, n], total.to(tl.float16))


@triton.jit
def matmul_tma_fp16(
    a_ptr, b_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Tensor descriptors, B stored [K, N]."""
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BLOCK_K, BLOCK_N])
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        total = tl.dot(a_desc.load([m, start]), b_desc.load([start, n]), total)
    rows = m + tl.arange(0, BLOCK_M)
    columns = n + tl.arange(0, BLOCK_N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16))


@triton.jit
def expert_matmul(
    x_ptr, w_ptr, row_ptr, expert_ptr, y_ptr, N, K, ROWS_OF_EXPERT: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Mixture of experts: rows are gathered by an index; a block of rows has one expert's weights [N, K]."""
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    m = (pid // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    rows = tl.load(row_ptr + m).to(tl.int64)
    expert = tl.load(expert_ptr + (pid // tiles_n) * BLOCK_M // ROWS_OF_EXPERT).to(tl.int64)
    x_tile = x_ptr + rows[:, None] * K + k[None, :]
    w_tile = w_ptr + expert * N * K + n[None, :] * K + k[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_tile, mask=k[None, :] < K - start, other=0.0)
        w = tl.load(w_tile, mask=k[:, None] < K - start, other=0.0)
        total += tl.dot(x, w)
        x_tile += BLOCK_K
        w_tile += BLOCK_K
    tl.store(y_ptr + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


@triton.jit
def int4_weight_matmul(
    x_ptr, w_ptr, scale_ptr, y_ptr, M, N, K, GROUP: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """fp16 activations with weights of 4 bits, eight in an int32 along K, and a scale for GROUP of them."""
    m = tl.program_id(1) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    shift = (k % 8) * 4
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + m[:, None] * K + (start + k)[None, :])
        packed = tl.load(w_ptr + ((start + k) // 8)[:, None] * N + n[None, :])
        scale = tl.load(scale_ptr + (start // GROUP) * N + n)
        w = (((packed >> shift[:, None]) & 15) - 8).to(tl.float16) * scale[None, :]
        total = tl.dot(x, w, total)
    tl.store(y_ptr + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def int8_weight_matmul(
    x_ptr, w_ptr, scale_ptr, y_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """bf16 activations with int8 weights [N, K] and a scale for each column of the result."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_tile = x_ptr + m[:, None] * K + k[None, :]
    w_tile = w_ptr + n[None, :] * K + k[:, None]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(K, BLOCK_K)):
        total = tl.dot(tl.load(x_tile), tl.load(w_tile).to(tl.bfloat16), total)
        x_tile += BLOCK_K
        w_tile += BLOCK_K
    total *= tl.load(scale_ptr + n)[None, :]
    tl.store(y_ptr + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


@triton.jit
def gated_linear_fp16(
    x_ptr, gate_ptr, up_ptr, y_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """silu(x gate) * (x up): two products that share an operand, two accumulators."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    x_tile = x_ptr + m[:, None] * K + k[None, :]
    offsets = k[:, None] * N + n[None, :]
    gate = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    up = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_tile + start)
        gate = tl.dot(x, tl.load(gate_ptr + offsets + start * N), gate)
        up = tl.dot(x, tl.load(up_ptr + offsets + start * N), up)
    y = gate * tl.sigmoid(gate) * up
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(tl.float16))


@triton.jit
def block_scaled_matmul(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Microscaling: fp8 elements, B stored [N, K], with an exponent for each 32 of them along K."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    s = tl.arange(0, BLOCK_K // 32)
    groups = K // 32
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + n[None, :] * K + (start + k)[:, None])
        a_scale = tl.load(a_scale_ptr + m[:, None] * groups + (start // 32 + s)[None, :])
        b_scale = tl.load(b_scale_ptr + n[:, None] * groups + (start // 32 + s)[None, :])
        total = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3", total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total.to(tl.bfloat16))


@triton.jit
def matrix_vector_fp16(
    a_ptr, x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """A matrix times a vector: read once, no tensor cores."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, N, BLOCK_N):
        a = tl.load(a_ptr + m[:, None] * N + (start + n)[None, :]).to(tl.float32)
        total += a * tl.load(x_ptr + start + n).to(tl.float32)[None, :]
    tl.store(y_ptr + m, tl.sum(total, axis=1).to(tl.float16))


@triton.jit
def nearest_centroid(
    x_ptr, c_ptr, norm_ptr, label_ptr, POINTS, CENTROIDS, D: tl.constexpr,
    BLOCK_P: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """The nearest of many centroids: a product whose result is reduced and never stored."""
    p = tl.program_id(0) * BLOCK_P + tl.arange(0, BLOCK_P)
    d = tl.arange(0, D)
    x = tl.load(x_ptr + p[:, None] * D + d[None, :])
    best = tl.full((BLOCK_P,), float("inf"), tl.float32)
    label = tl.zeros((BLOCK_P,), tl.int32)
    for start in range(0, CENTROIDS, BLOCK_C):
        c = start + tl.arange(0, BLOCK_C)
        centroid = tl.load(c_ptr + c[None, :] * D + d[:, None])
        distance = tl.load(norm_ptr + c)[None, :] - 2.0 * tl.dot(x, centroid)
        nearest = tl.min(distance, axis=1)
        closer = nearest < best
        label = tl.where(closer, start + tl.argmin(distance, axis=1), label)
        best = tl.where(closer, nearest, best)
    tl.store(label_ptr + p, label)


@triton.jit
def conv2d_nhwc(
    x_ptr, w_ptr, y_ptr, H, W, C, F, OUT_H, OUT_W,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A 3x3 convolution with padding 1 as a product: rows are pixels, K are taps and channels. Weights [3, 3, C, F]."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    f = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    image = m // (OUT_H * OUT_W)
    y = (m // OUT_W) % OUT_H
    x = m % OUT_W
    c = tl.arange(0, BLOCK_K)
    steps = C // BLOCK_K
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, 9 * steps):
        tap = step // steps
        channel = (step % steps) * BLOCK_K + c
        row = y + tap // 3 - 1
        column = x + tap % 3 - 1
        inside = (row >= 0) & (row < H) & (column >= 0) & (column < W)
        pixel = (image * H + row) * W + column
        a = tl.load(x_ptr + pixel[:, None] * C + channel[None, :], mask=inside[:, None], other=0.0)
        b = tl.load(w_ptr + (tap * C + channel)[:, None] * F + f[None, :])
        total = tl.dot(a, b, total)
    tl.store(y_ptr + m[:, None] * F + f[None, :], total.to(tl.float16))


@triton.jit
def matmul_fp32_exact(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """fp32 without tensor cores."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :])
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


@triton.jit
def low_rank_linear(
    x_ptr, w_ptr, down_ptr, up_ptr, y_ptr, M, N, K, RANK: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """x w' + (x down') up: a second, narrow product in the loop, a third after it."""
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BLOCK_N)
    m = (pid // tiles_n) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)
    r = tl.arange(0, RANK)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    narrow = tl.zeros((BLOCK_M, RANK), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + m[:, None] * K + (start + k)[None, :])
        w = tl.load(w_ptr + n[None, :] * K + (start + k)[:, None])
        down = tl.load(down_ptr + r[None, :] * K + (start + k)[:, None])
        total = tl.dot(x, w, total)
        narrow = tl.dot(x, down, narrow)
    up = tl.load(up_ptr + r[:, None] * N + n[None, :])
    total = tl.dot(narrow.to(tl.float16), up, total)
    tl.store(y_ptr + m[:, None] * N + n[None, :], total.to(tl.float16))


@triton.jit
def router_softmax(
    x_ptr, w_ptr, p_ptr, M, K, EXPERTS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """A tall product with few columns, and a softmax over them."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    e = tl.arange(0, EXPERTS)
    k = tl.arange(0, BLOCK_K)
    score = tl.zeros((BLOCK_M, EXPERTS), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        x = tl.load(x_ptr + m[:, None] * K + (start + k)[None, :])
        w = tl.load(w_ptr + (start + k)[:, None] * EXPERTS + e[None, :])
        score += tl.dot(x, w)
    score = tl.exp(score - tl.max(score, axis=1)[:, None])
    tl.store(p_ptr + m[:, None] * EXPERTS + e[None, :], score / tl.sum(score, axis=1)[:, None])


@triton.jit
def manhattan_distances(
    a_ptr, b_ptr, d_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Sums of absolute differences of all pairs: the loops of a product, and no instruction for them."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :])
        b = tl.load(b_ptr + n[:, None] * K + (start + k)[None, :])
        total += tl.sum(tl.abs(a[:, None, :] - b[None, :, :]), axis=2)
    tl.store(d_ptr + m[:, None] * N + n[None, :], total)
