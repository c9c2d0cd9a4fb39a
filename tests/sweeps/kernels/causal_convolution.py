"""A causal convolution of each channel over a few steps, with its activation (the short one of state-space models)."""

import triton
import triton.language as tl


@triton.jit
def convolve(
    x_bytes,
    w_bytes,
    bias_ptr,
    y_bytes,
    LENGTH,
    CHANNELS,
    DTYPE: tl.constexpr,
    WIDTH: tl.constexpr,
    BT: tl.constexpr,
    BD: tl.constexpr,
):
    x_ptr, w_ptr = x_bytes.to(tl.pointer_type(DTYPE)), w_bytes.to(tl.pointer_type(DTYPE))
    y_ptr = y_bytes.to(tl.pointer_type(DTYPE))
    first = tl.program_id(2) * LENGTH
    steps = tl.program_id(1) * BT + tl.arange(0, BT)
    channels = tl.program_id(0) * BD + tl.arange(0, BD)
    total = tl.zeros((BT, BD), tl.float32) + tl.load(bias_ptr + channels)[None, :]
    for tap in tl.static_range(WIDTH):
        at = steps - WIDTH + 1 + tap
        inside = (at >= 0) & (at < LENGTH)
        x = tl.load(x_ptr + (first + at)[:, None] * CHANNELS + channels[None, :], mask=inside[:, None], other=0.0)
        w = tl.load(w_ptr + channels * WIDTH + tap)
        total += x.to(tl.float32) * w.to(tl.float32)[None, :]
    total = total * tl.sigmoid(total)
    at = (first + steps)[:, None] * CHANNELS + channels[None, :]
    tl.store(y_ptr + at, total.to(DTYPE), mask=(steps < LENGTH)[:, None])
