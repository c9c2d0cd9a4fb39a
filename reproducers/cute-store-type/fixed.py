"""The value is converted to the tensor's type."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    pointer = cute.recast_ptr(out.iterator, dtype=cutlass.Int64)
    view = cute.make_tensor(pointer, cute.make_layout(4))
    view[0] = cutlass.Int64(out[0])
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
