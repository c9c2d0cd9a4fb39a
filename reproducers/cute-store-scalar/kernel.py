"""An integer is not converted as it is stored into a tensor of floating-point numbers."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def kernel(x: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    x[thread] = max(thread, n)


@cute.jit
def host(x: cute.Tensor, n: cutlass.Int32):
    kernel(x, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
