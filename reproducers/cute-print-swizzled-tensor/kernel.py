"""cute.printf of a tensor in shared memory whose layout is swizzled."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def fill(out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    swizzled = cute.make_composed_layout(cute.make_swizzle(3, 3, 3), 0, cute.make_layout(1024))
    shared = SmemAllocator().allocate_tensor(cutlass.Float16, swizzled, byte_alignment=16)
    cute.printf("{}", shared)
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor):
    fill(out).launch(grid=(1, 1, 1), block=(128, 1, 1))
