"""The shape has two modes, the stride three."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    view = cute.make_tensor(out.iterator, cute.make_layout((8, 16), stride=(16, 1, 1)))
    view[0, thread] = 2.0
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
