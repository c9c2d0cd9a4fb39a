"""The list has no element before the loop and one more after each round."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    rounds = []
    for i in cutlass.range(n):
        rounds.append(i)
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    fill(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
