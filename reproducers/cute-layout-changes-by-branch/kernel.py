"""The view has one mode in one branch and two in the other."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    view = out
    if thread < n:
        view = cute.make_tensor(out.iterator, cute.make_layout((8, 8)))
    view[0] = 2.0
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    fill(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
