"""cute.compile takes a host function; this is a kernel, which a host function launches."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def host(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = 1.0
