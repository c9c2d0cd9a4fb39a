"""range_constexpr traces the body once a round: the module grows until time is out."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, ROUNDS: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    total = cutlass.Float32(0)
    for i in cutlass.range_constexpr(ROUNDS):
        total = total + out[thread] * cutlass.Float32(i)
    out[0] = total
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, ROUNDS: cutlass.Constexpr):
    fill(out, ROUNDS).launch(grid=(1, 1, 1), block=(128, 1, 1))
