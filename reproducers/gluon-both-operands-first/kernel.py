"""The second operand has the layout of a first one."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def tile_dot(a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, layout))[:, None]
    offsets = rows * N + gl.arange(0, N, layout=gl.SliceLayout(0, layout))[None, :]
    a = gl.convert_layout(gl.load(a_ptr + offsets), gl.DotOperandLayout(0, layout, 0))
    b = gl.convert_layout(gl.load(b_ptr + offsets), gl.DotOperandLayout(0, layout, 0))
    c = gl.dot_fma(a, b, gl.zeros([M, N], gl.float32, layout=layout))
    gl.store(c_ptr + offsets, c)
