"""cute.print_tensor of 8-bit floats that lie in shared memory."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    layout = cute.make_layout(128)
    shared = SmemAllocator().allocate_tensor(cutlass.Float8E4M3FN, layout, byte_alignment=16)
    cute.print_tensor(shared)
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
