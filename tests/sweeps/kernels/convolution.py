"""A convolution of images with channels last, as an implicit matrix product over taps and channels."""

import triton
import triton.language as tl


@triton.jit
def convolve(
    x_bytes,
    w_bytes,
    y_ptr,
    WIDTH,
    CHANNELS,
    FILTERS,
    DTYPE: tl.constexpr,
    BP: tl.constexpr,
    BF: tl.constexpr,
    BC: tl.constexpr,
    TAPS: tl.constexpr,
):
    x_ptr, w_ptr = x_bytes.to(tl.pointer_type(DTYPE)), w_bytes.to(tl.pointer_type(DTYPE))
    pixels = tl.program_id(0) * BP + tl.arange(0, BP)
    filters = tl.program_id(1) * BF + tl.arange(0, BF)
    channels = tl.arange(0, BC)
    row, column = pixels // WIDTH, pixels % WIDTH
    total = tl.zeros((BP, BF), dtype=tl.float32)
    for step in range(tl.cdiv(CHANNELS, BC) * TAPS * TAPS):
        tap, channel = step % (TAPS * TAPS), step // (TAPS * TAPS) * BC + channels
        down, across = row + tap // TAPS - TAPS // 2, column + tap % TAPS - TAPS // 2
        inside = (down >= 0) & (across >= 0) & (across < WIDTH)
        places = (down * WIDTH + across)[:, None] * CHANNELS + channel[None, :]
        x = tl.load(x_ptr + places, mask=inside[:, None], other=0.0)
        w = tl.load(w_ptr + (tap * CHANNELS + channel)[:, None] * FILTERS + filters[None, :])
        total = tl.dot(x, w, total)
    tl.store(y_ptr + pixels[:, None] * FILTERS + filters[None, :], total)
