"""The composition steps by 4 over a mode of 6 rows, which 4 does not divide."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    rows = cute.make_layout((6, 2), stride=(8, 2))
    view = cute.make_tensor(out.iterator, cute.composition(rows, cute.make_layout(3, stride=4)))
    view[0] = 2.0
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
