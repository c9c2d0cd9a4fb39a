"""A Gluon kernel that tests compile for datacenter Blackwell: one tcgen05.mma whose instruction block is given."""

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    mbarrier,
    tcgen05_mma,
)


@gluon.jit
def mma(c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr, T: gl.constexpr):
    of_a: gl.constexpr = gl.NVMMASharedLayout.get_default_for([M, K], T)
    of_b: gl.constexpr = gl.NVMMASharedLayout.get_default_for([K, N], T)
    a = gl.allocate_shared_memory(T, [M, K], of_a)
    b = gl.allocate_shared_memory(T, [K, N], of_b)
    of_acc: gl.constexpr = TensorMemoryLayout([BM, BN], col_stride=1)
    acc = allocate_tensor_memory(gl.float32, [M, N], of_acc)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    tcgen05_mma(a, b, acc, use_acc=False, mbarriers=[bar])
    mbarrier.wait(bar, 0)
