"""One mma of register operands, its layouts given from outside."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import mma_v2


@gluon.jit
def tile(a_ptr, b_ptr, c_ptr, LOAD: gl.constexpr, ACC: gl.constexpr, ACC_TYPE: gl.constexpr, SIZE: gl.constexpr):
    rows = gl.arange(0, SIZE, layout=gl.SliceLayout(1, LOAD))
    columns = gl.arange(0, SIZE, layout=gl.SliceLayout(0, LOAD))
    offsets = rows[:, None] * SIZE + columns[None, :]
    a = gl.convert_layout(gl.load(a_ptr + offsets), gl.DotOperandLayout(0, ACC, 2))
    b = gl.convert_layout(gl.load(b_ptr + offsets), gl.DotOperandLayout(1, ACC, 2))
    accumulator = mma_v2(a, b, gl.zeros([SIZE, SIZE], ACC_TYPE, layout=ACC))
    rows = gl.arange(0, SIZE, layout=gl.SliceLayout(1, ACC))
    columns = gl.arange(0, SIZE, layout=gl.SliceLayout(0, ACC))
    gl.store(c_ptr + rows[:, None] * SIZE + columns[None, :], accumulator)
