"""The tiler has as many modes as the vector."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    tiles = cute.flat_divide(out, (8,))
    tiles[0, 0] = 2.0
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
