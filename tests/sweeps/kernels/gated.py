"""A gated layer: two products with one left operand, and an activation between them."""

import triton
import triton.language as tl


@triton.jit
def gated(
    x_bytes, up_bytes, gate_bytes, y_ptr, N, K, DTYPE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, FUSED: tl.constexpr,
):  # fmt: skip
    x_ptr, up_ptr = x_bytes.to(tl.pointer_type(DTYPE)), up_bytes.to(tl.pointer_type(DTYPE))
    gate_ptr = gate_bytes.to(tl.pointer_type(DTYPE))
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    up_sum = tl.zeros((BM, BN), dtype=tl.float32)
    gate_sum = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        x = tl.load(x_ptr + rows[:, None] * K + k + inner[None, :])
        at = (k + inner)[:, None] * N + columns[None, :]
        up_sum = tl.dot(x, tl.load(up_ptr + at), up_sum)
        if FUSED:
            gate_sum = tl.dot(x, tl.load(gate_ptr + at), gate_sum)
    if FUSED:
        up_sum = up_sum * gate_sum * tl.sigmoid(gate_sum)
    tl.store(y_ptr + rows[:, None] * N + columns[None, :], up_sum)
