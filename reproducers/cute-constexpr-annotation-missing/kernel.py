"""The parameter takes a text; without the annotation cutlass.Constexpr it counts as a run-time argument."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, MODE):
    if cutlass.const_expr(MODE == "row"):
        pass
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
