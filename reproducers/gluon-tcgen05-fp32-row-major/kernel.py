"""fp32 operands in shared memory must be K-major; this one is N-major."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    fence_async_shared,
    mbarrier,
    tcgen05_mma,
)


@gluon.jit
def tile_dot(a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    load: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    registers: gl.constexpr = gl.BlockedLayout([1, N], [32, 1], [4, 1], [0, 1])
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, load))
    inner = gl.arange(0, K, layout=gl.SliceLayout(1, load))
    a = gl.load(a_ptr + rows[:, None] * K + gl.arange(0, K, layout=gl.SliceLayout(0, load))[None, :])
    b = gl.load(b_ptr + inner[:, None] * N + gl.arange(0, N, layout=gl.SliceLayout(0, load))[None, :])
    a_shared = gl.allocate_shared_memory(a.dtype, [M, K], gl.NVMMASharedLayout(128, 32, 2), a)
    b_shared = gl.allocate_shared_memory(b.dtype, [K, N], gl.NVMMASharedLayout(128, 32, 2), b)
    fence_async_shared()
    c_tmem = allocate_tensor_memory(gl.float32, [M, N], TensorMemoryLayout((128, N), col_stride=1))
    done = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(done, count=1)
    tcgen05_mma(a_shared, b_shared, c_tmem, use_acc=False, mbarriers=[done])
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)
    c = c_tmem.load(registers)
    c_rows = gl.arange(0, M, layout=gl.SliceLayout(1, registers))
    c_columns = gl.arange(0, N, layout=gl.SliceLayout(0, registers))
    gl.store(c_ptr + c_rows[:, None] * N + c_columns[None, :], c)
