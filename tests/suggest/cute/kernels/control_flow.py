import cutlass
from cutlass import cute


@cute.kernel
def clamp(x: cute.Tensor):
    tidx, _, _ = cute.arch.thread_idx()
    value = x[tidx]
    if value < 0.0:
        x[tidx] = 0.0
        return
    value = value * 2.0
    x[tidx] = value


@cute.jit
def early_return(x: cute.Tensor, n: cutlass.Int32):
    clamp(x).launch(grid=(1, 1, 1), block=(128, 1, 1))


@cute.kernel
def sum_to_zero(x: cute.Tensor, n: cutlass.Int32):
    tidx, _, _ = cute.arch.thread_idx()
    total = cutlass.Float32(0)
    for i in cutlass.range(n):
        value = x[i]
        if value == 0.0:
            break
        total = total + value
    x[tidx] = total


@cute.jit
def left_loop(x: cute.Tensor, n: cutlass.Int32):
    sum_to_zero(x, n).launch(grid=(1, 1, 1), block=(128, 1, 1))


@cute.kernel
def scale_some(x: cute.Tensor, n: cutlass.Int32):
    tidx, _, _ = cute.arch.thread_idx()
    if tidx < n:
        value = x[tidx]
        count = 1
    x[tidx] = value + count


@cute.jit
def born_in_if(x: cute.Tensor, n: cutlass.Int32):
    scale_some(x, n).launch(grid=(1, 1, 1), block=(128, 1, 1))


@cute.kernel
def pick(x: cute.Tensor, n: cutlass.Int32):
    tidx, _, _ = cute.arch.thread_idx()
    weights = [0.5, 1.0, 2.0]
    x[tidx] = x[tidx] * weights[n]


@cute.jit
def list_index(x: cute.Tensor, n: cutlass.Int32):
    pick(x, n).launch(grid=(1, 1, 1), block=(128, 1, 1))


@cute.kernel
def scale(x: cute.Tensor, n: cutlass.Int32):
    tidx, _, _ = cute.arch.thread_idx()
    x[tidx] = x[tidx] * n


@cute.jit
def missing_argument(x: cute.Tensor, n: cutlass.Int32):
    scale(x).launch(grid=(1, 1, 1), block=(128, 1, 1))
