"""The GPU converts 8-bit floats; it does not add them."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def double(source: cute.Tensor, target: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    target[thread] = source[thread] + source[thread]


@cute.jit
def host(source: cute.Tensor, target: cute.Tensor):
    double(source, target).launch(grid=(1, 1, 1), block=(128, 1, 1))
