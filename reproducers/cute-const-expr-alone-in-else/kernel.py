"""The branch that const_expr excludes is traced when it is all that the else of a run-time if contains."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    if thread == n:
        out[thread] = 2.0
    else:
        if cutlass.const_expr(False):
            assert False, "excluded when the kernel is compiled"
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    fill(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
