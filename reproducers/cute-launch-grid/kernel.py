"""A grid has at most three dimensions."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, GRID: cutlass.Constexpr):
    fill(out).launch(grid=GRID, block=(128, 1, 1))
