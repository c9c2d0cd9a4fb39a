"""A tile multiplied on AMD's matrix cores in layouts that the kernel names."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import cdna3


@gluon.jit
def tile_dot(
    a_ptr,
    b_ptr,
    c_ptr,
    M: gl.constexpr,
    N: gl.constexpr,
    K: gl.constexpr,
    VERSION: gl.constexpr,
    SIDE: gl.constexpr,
    DEPTH: gl.constexpr,
    WIDTH: gl.constexpr,
    WARPS_M: gl.constexpr,
):
    warps: gl.constexpr = [WARPS_M, gl.num_warps() // WARPS_M]
    load: gl.constexpr = gl.BlockedLayout([1, 4], [8, 8], warps, [1, 0])
    result: gl.constexpr = gl.amd.AMDMFMALayout(VERSION, [SIDE, SIDE, DEPTH], True, warps)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, K, layout=gl.SliceLayout(1, load))
    a = gl.load(a_ptr + rows[:, None] * K + gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + inner[:, None] * N + gl.arange(0, N, layout=gl.SliceLayout(0, load))[None, :])
    a = gl.convert_layout(a, gl.DotOperandLayout(0, result, WIDTH))
    b = gl.convert_layout(b, gl.DotOperandLayout(1, result, WIDTH))
    c = cdna3.mfma(a, b, gl.zeros([M, N], gl.float32, layout=result))
    c_rows = gl.arange(0, M, layout=gl.SliceLayout(1, result))
    c_columns = gl.arange(0, N, layout=gl.SliceLayout(0, result))
    gl.store(c_ptr + c_rows[:, None] * N + c_columns[None, :], c)
