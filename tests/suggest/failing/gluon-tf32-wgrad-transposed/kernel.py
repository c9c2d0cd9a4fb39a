from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier
from triton.experimental.gluon.language.nvidia.blackwell import allocate_tensor_memory, tcgen05_mma


@gluon.jit
def wgrad_tile(x_ptr, dy_ptr, dw_ptr, stride_x, stride_dy, stride_dw, BLOCK_I: gl.constexpr, BLOCK_O: gl.constexpr,
               BLOCK_T: gl.constexpr, COPY: gl.constexpr, SMEM_X: gl.constexpr, SMEM_DY: gl.constexpr,
               TMEM: gl.constexpr, REG: gl.constexpr):
    """dW tile = X^T dY: X is staged as it lies in memory ([tokens, features]) and permuted as a view."""
    xt = gl.arange(0, BLOCK_T, layout=gl.SliceLayout(1, COPY))
    xi = gl.arange(0, BLOCK_I, layout=gl.SliceLayout(0, COPY))
    yt = gl.arange(0, BLOCK_T, layout=gl.SliceLayout(1, COPY))
    yo = gl.arange(0, BLOCK_O, layout=gl.SliceLayout(0, COPY))
    x = gl.load(x_ptr + xt[:, None] * stride_x + xi[None, :])
    dy = gl.load(dy_ptr + yt[:, None] * stride_dy + yo[None, :])
    x_smem = gl.allocate_shared_memory(x.dtype, [BLOCK_T, BLOCK_I], SMEM_X, x)
    dy_smem = gl.allocate_shared_memory(dy.dtype, [BLOCK_T, BLOCK_O], SMEM_DY, dy)
    fence_async_shared()
    acc = allocate_tensor_memory(gl.float32, [BLOCK_I, BLOCK_O], TMEM)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    tcgen05_mma(x_smem.permute((1, 0)), dy_smem, acc, use_acc=False, mbarriers=[bar])
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    dw = acc.load(REG)
    di = gl.arange(0, BLOCK_I, layout=gl.SliceLayout(1, REG))
    do = gl.arange(0, BLOCK_O, layout=gl.SliceLayout(0, REG))
    gl.store(dw_ptr + di[:, None] * stride_dw + do[None, :], dw)
