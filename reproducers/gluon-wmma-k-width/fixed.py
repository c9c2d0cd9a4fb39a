"""The operands have 8 values along K in a thread."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def small_dot(a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    load: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    result: gl.constexpr = gl.amd.AMDWMMALayout(2, True, [[1, 0], [2, 0]])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, K, layout=gl.SliceLayout(1, load))
    a = gl.load(a_ptr + rows[:, None] * K + gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + inner[:, None] * N + gl.arange(0, N, layout=gl.SliceLayout(0, load))[None, :])
    a = gl.convert_layout(a, gl.DotOperandLayout(0, result, 8))
    b = gl.convert_layout(b, gl.DotOperandLayout(1, result, 8))
    c = gl.amd.rdna4.wmma(a, b, gl.zeros([M, N], gl.float32, layout=result))
    c_rows = gl.arange(0, M, layout=gl.SliceLayout(1, result))
    c_columns = gl.arange(0, N, layout=gl.SliceLayout(0, result))
    gl.store(c_ptr + c_rows[:, None] * N + c_columns[None, :], c)
