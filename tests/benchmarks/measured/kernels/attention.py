"""Attention, forward and backward, and its relatives: two products and a softmax in a loop."""

import triton
import triton.language as tl


@triton.jit
def attention_d128(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, T, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Every query sees every key. Exponents are of 2: ``scale`` holds log2(e)."""
    head = tl.program_id(1)
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    base = head * T * D
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    out = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, T, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + n[:, None] * D + d[None, :])
        score = tl.dot(q, tl.trans(k)) * scale
        new = tl.maximum(highest, tl.max(score, axis=1))
        weight = tl.exp2(score - new[:, None])
        fade = tl.exp2(highest - new)
        total = total * fade + tl.sum(weight, axis=1)
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :])
        out = tl.dot(weight.to(tl.float16), v, out * fade[:, None])
        highest = new
    tl.store(o_ptr + base + m[:, None] * D + d[None, :], (out / total[:, None]).to(tl.float16))
    tl.store(lse_ptr + head * T + m, highest + tl.log2(total))


@triton.jit
def _attend(
    out, total, highest, q, k_ptr, v_ptr, m, d, low, high, scale,
    D: tl.constexpr, BLOCK_N: tl.constexpr, DIAGONAL: tl.constexpr,
):  # fmt: skip
    for start in range(low, high, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + n[None, :] * D + d[:, None])
        score = tl.dot(q, k) * scale
        if DIAGONAL:
            score = tl.where(m[:, None] >= n[None, :], score, float("-inf"))
        new = tl.maximum(highest, tl.max(score, axis=1))
        weight = tl.exp2(score - new[:, None])
        fade = tl.exp2(highest - new)
        total = total * fade + tl.sum(weight, axis=1)
        out = out * fade[:, None]
        v = tl.load(v_ptr + n[:, None] * D + d[None, :])
        out += tl.dot(weight.to(v.dtype), v)
        highest = new
    return out, total, highest


@triton.jit
def causal_attention_bf16(
    q_ptr, k_ptr, v_ptr, o_ptr, T, scale, GROUP: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Causal, grouped queries; whole tiles left of the diagonal first, then the masked ones on it."""
    head = tl.program_id(1)
    first = tl.program_id(0) * BLOCK_M
    m = first + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    k_ptr += (head // GROUP) * T * D
    v_ptr += (head // GROUP) * T * D
    q = tl.load(q_ptr + head * T * D + m[:, None] * D + d[None, :])
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    out = tl.zeros((BLOCK_M, D), tl.float32)
    whole = first // BLOCK_N * BLOCK_N
    out, total, highest = _attend(
        out, total, highest, q, k_ptr, v_ptr, m, d, 0, whole, scale, D=D, BLOCK_N=BLOCK_N, DIAGONAL=False
    )
    out, total, highest = _attend(
        out, total, highest, q, k_ptr, v_ptr, m, d, whole, first + BLOCK_M, scale, D=D, BLOCK_N=BLOCK_N, DIAGONAL=True
    )
    tl.store(o_ptr + head * T * D + m[:, None] * D + d[None, :], (out / total[:, None]).to(tl.bfloat16))


@triton.jit
def attention_padded_d80(
    q_ptr, k_ptr, v_ptr, o_ptr, T, HEADS, stride_t, scale, D: tl.constexpr, BLOCK_D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """A head dimension that is no power of two; [batch, time, head, D], masked everywhere."""
    batch = tl.program_id(1) // HEADS
    head = tl.program_id(1) % HEADS
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, BLOCK_D)
    base = batch.to(tl.int64) * T * stride_t + head * D
    inside = (m[:, None] < T) & (d[None, :] < D)
    q = tl.load(q_ptr + base + m[:, None] * stride_t + d[None, :], mask=inside, other=0.0)
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    out = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start in range(0, T, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        there = (n[:, None] < T) & (d[None, :] < D)
        k = tl.load(k_ptr + base + n[:, None] * stride_t + d[None, :], mask=there, other=0.0)
        score = tl.dot(q, k.T)
        score = tl.where(n[None, :] < T, score * scale, float("-inf"))
        new = tl.maximum(highest, tl.max(score, 1))
        weight = tl.exp2(score - new[:, None])
        fade = tl.exp2(highest - new)
        total = total * fade + tl.sum(weight, 1)
        v = tl.load(v_ptr + base + n[:, None] * stride_t + d[None, :], mask=there, other=0.0)
        out = out * fade[:, None] + tl.dot(weight.to(tl.float16), v)
        highest = new
    out = out / total[:, None]
    tl.store(o_ptr + base + m[:, None] * stride_t + d[None, :], out.to(tl.float16), mask=inside)


@triton.jit
def decode_attention_gqa(
    q_ptr, k_ptr, v_ptr, o_ptr, T, scale, GROUP: tl.constexpr, D: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """One new token: the 16 queries that share a key head against the whole cache. Bound by memory."""
    pair = tl.program_id(0)
    g = tl.arange(0, GROUP)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (pair * GROUP + g)[:, None] * D + d[None, :])
    base = pair.to(tl.int64) * T * D
    highest = tl.full((GROUP,), float("-inf"), tl.float32)
    total = tl.zeros((GROUP,), tl.float32)
    out = tl.zeros((GROUP, D), tl.float32)
    for start in range(0, T, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + n[None, :] * D + d[:, None], mask=n[None, :] < T, other=0.0)
        score = tl.dot(q, k) * scale
        score = tl.where(n[None, :] < T, score, float("-inf"))
        new = tl.maximum(highest, tl.max(score, 1))
        fade = tl.exp2(highest - new)
        weight = tl.exp2(score - new[:, None])
        total = total * fade + tl.sum(weight, 1)
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :], mask=n[:, None] < T, other=0.0)
        out = out * fade[:, None] + tl.dot(weight.to(tl.bfloat16), v)
        highest = new
    tl.store(o_ptr + (pair * GROUP + g)[:, None] * D + d[None, :], (out / total[:, None]).to(tl.bfloat16))


@triton.jit
def paged_attention_decode(
    q_ptr, k_ptr, v_ptr, table_ptr, o_ptr, PAGES, scale, HEADS: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr,
    BLOCK_N: tl.constexpr,
):  # fmt: skip
    """One query against keys in pages that a table names: gathers, no tensor cores."""
    sequence = tl.program_id(0)
    head = tl.program_id(1)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (sequence * HEADS + head) * D + d).to(tl.float32) * scale
    highest = float("-inf")
    total = 0.0
    out = tl.zeros((D,), tl.float32)
    for start in range(0, PAGES * PAGE, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        page = tl.load(table_ptr + sequence * PAGES + n // PAGE).to(tl.int64)
        at = ((page * PAGE + n % PAGE) * HEADS + head)[:, None] * D + d[None, :]
        score = tl.sum(tl.load(k_ptr + at).to(tl.float32) * q[None, :], axis=1)
        new = tl.maximum(highest, tl.max(score, axis=0))
        weight = tl.exp2(score - new)
        fade = tl.exp2(highest - new)
        total = total * fade + tl.sum(weight, axis=0)
        out = out * fade + tl.sum(weight[:, None] * tl.load(v_ptr + at).to(tl.float32), axis=0)
        highest = new
    tl.store(o_ptr + (sequence * HEADS + head) * D + d, (out / total).to(tl.float16))


@triton.jit
def attention_backward_kv(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, T, scale, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Gradients of keys and values: a tile of keys stays, queries come by. Four products a step."""
    head = tl.program_id(1)
    base = head * T * D
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    k = tl.load(k_ptr + base + n[:, None] * D + d[None, :])
    v = tl.load(v_ptr + base + n[:, None] * D + d[None, :])
    dk = tl.zeros((BLOCK_N, D), tl.float32)
    dv = tl.zeros((BLOCK_N, D), tl.float32)
    for start in range(0, T, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
        lse = tl.load(lse_ptr + head * T + m)
        weight = tl.exp2(tl.dot(k, tl.trans(q)) * scale - lse[None, :])
        do = tl.load(do_ptr + base + m[:, None] * D + d[None, :])
        dv += tl.dot(weight.to(tl.float16), do)
        delta = tl.load(delta_ptr + head * T + m)
        dweight = tl.dot(v, tl.trans(do))
        dscore = weight * (dweight - delta[None, :])
        dk += tl.dot(dscore.to(tl.float16), q)
    tl.store(dv_ptr + base + n[:, None] * D + d[None, :], dv.to(tl.float16))
    tl.store(dk_ptr + base + n[:, None] * D + d[None, :], (dk * scale * 0.6931471805599453).to(tl.float16))


@triton.jit
def attention_backward_q(
    q_ptr, k_ptr, v_ptr, do_ptr, lse_ptr, delta_ptr, dq_ptr, T, scale, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Gradient of queries, causal: a tile of queries stays, keys up to the diagonal come by."""
    head = tl.program_id(1)
    base = head * T * D
    first = tl.program_id(0) * BLOCK_M
    m = first + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
    do = tl.load(do_ptr + base + m[:, None] * D + d[None, :])
    lse = tl.load(lse_ptr + head * T + m)
    delta = tl.load(delta_ptr + head * T + m)
    dq = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, first + BLOCK_M, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + n[:, None] * D + d[None, :])
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :])
        weight = tl.exp2(tl.dot(q, tl.trans(k)) * scale - lse[:, None])
        weight = tl.where(m[:, None] >= n[None, :], weight, 0.0)
        dweight = tl.dot(do, tl.trans(v))
        dscore = (weight * (dweight - delta[:, None])).to(tl.float16)
        dq = tl.dot(dscore, k, dq)
    tl.store(dq_ptr + base + m[:, None] * D + d[None, :], (dq * scale * 0.6931471805599453).to(tl.float16))


@triton.jit
def linear_attention_chunks(
    q_ptr, k_ptr, v_ptr, o_ptr, T, D: tl.constexpr, BLOCK_V: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """Causal attention without a softmax: a state [D, BLOCK_V] is carried from chunk to chunk."""
    head = tl.program_id(1)
    base = head * T * D
    d = tl.arange(0, D)
    c = tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    t = tl.arange(0, CHUNK)
    state = tl.zeros((D, BLOCK_V), tl.float32)
    for start in range(0, T, CHUNK):
        rows = base + (start + t) * D
        q = tl.load(q_ptr + rows[:, None] + d[None, :])
        k = tl.load(k_ptr + rows[:, None] + d[None, :])
        v = tl.load(v_ptr + rows[:, None] + c[None, :])
        score = tl.dot(q, tl.trans(k))
        score = tl.where(t[:, None] >= t[None, :], score, 0.0)
        out = tl.dot(score.to(tl.bfloat16), v) + tl.dot(q, state.to(tl.bfloat16))
        tl.store(o_ptr + rows[:, None] + c[None, :], out.to(tl.bfloat16))
        state += tl.dot(tl.trans(k), v)


@triton.jit
def attention_window_d64(
    q_ptr, k_ptr, v_ptr, o_ptr, T, scale, WINDOW: tl.constexpr, D: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Causal, and no further back than WINDOW: short loops whose bounds depend on the tile."""
    base = tl.program_id(1) * T * D
    first = tl.program_id(0) * BLOCK_M
    m = first + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
    highest = tl.full((BLOCK_M,), -1e30, tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    out = tl.zeros((BLOCK_M, D), tl.float32)
    low = tl.maximum(first - WINDOW, 0)
    for start in range(low // BLOCK_N * BLOCK_N, first + BLOCK_M, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + n[None, :] * D + d[:, None])
        score = tl.dot(q, k) * scale
        behind = m[:, None] - n[None, :]
        score = tl.where((behind >= 0) & (behind < WINDOW), score, -1e30)
        new = tl.maximum(highest, tl.max(score, axis=1))
        weight = tl.exp2(score - new[:, None])
        weight = tl.where((behind >= 0) & (behind < WINDOW), weight, 0.0)
        fade = tl.exp2(highest - new)
        total = total * fade + tl.sum(weight, axis=1)
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :])
        out = tl.dot(weight.to(tl.float16), v, out * fade[:, None])
        highest = new
    tl.store(o_ptr + base + m[:, None] * D + d[None, :], (out / total[:, None]).to(tl.float16))


@triton.jit
def attention_fp8_d128(
    q_ptr, k_ptr, v_ptr, o_ptr, T, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """fp8 throughout, values stored [D, T] as the tensor cores want them."""
    base = tl.program_id(1) * T * D
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :])
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    out = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, T, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + n[None, :] * D + d[:, None])
        score = tl.dot(q, k) * scale
        new = tl.maximum(highest, tl.max(score, axis=1))
        weight = tl.exp2(score - new[:, None])
        fade = tl.exp2(highest - new)
        total = total * fade + tl.sum(weight, axis=1)
        v = tl.load(v_ptr + base + d[None, :] * T + n[:, None])
        out = tl.dot(weight.to(tl.float8e4nv), v, out * fade[:, None])
        highest = new
    tl.store(o_ptr + base + m[:, None] * D + d[None, :], (out / total[:, None]).to(tl.float16))
