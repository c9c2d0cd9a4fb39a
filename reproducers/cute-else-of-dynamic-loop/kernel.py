"""A loop whose length is known at run time only has no else."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    for i in cutlass.range(n):
        out[i] = 2.0
    else:
        out[0] = 3.0
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    fill(out, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
