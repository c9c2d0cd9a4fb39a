"""A tensor of one mode has no second one."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def kernel(x: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    x[thread] = cutlass.Float32(cute.size(x, mode=[1]))


@cute.jit
def host(x: cute.Tensor, n: cutlass.Int32):
    kernel(x, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
