"""Tensor memory is allocated in powers of two from 32 to 512 columns."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def fill(out: cute.Tensor, COLUMNS: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    columns = SmemAllocator().allocate_array(cutlass.Int32, 1)
    cute.arch.alloc_tmem(COLUMNS, columns)
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, COLUMNS: cutlass.Constexpr):
    fill(out, COLUMNS).launch(grid=(1, 1, 1), block=(128, 1, 1))
