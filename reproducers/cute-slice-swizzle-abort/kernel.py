"""A slice, at a run-time row, of a swizzled layout whose number of rows is 4 modulo 16."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def read_row(out: cute.Tensor, layout: cute.ComposedLayout):
    thread, _, _ = cute.arch.thread_idx()
    shared = SmemAllocator().allocate_tensor(out.element_type, layout, byte_alignment=1024)
    row = shared[thread, None]
    out[thread] = row[thread]


@cute.jit
def host(out: cute.Tensor, ROWS: cutlass.Constexpr):
    swizzle = cute.make_swizzle(3, 3, 3)
    layout = cute.make_composed_layout(swizzle, 0, cute.make_layout((ROWS, 64), stride=(64, 1)))
    read_row(out, layout).launch(grid=(1, 1, 1), block=(64, 1, 1))
