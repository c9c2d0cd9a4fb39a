"""ldmatrix of four matrices."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import warp
from cutlass.utils import SmemAllocator


@cute.kernel
def load_fragment(out: cute.Tensor, copy: cute.TiledCopy):
    thread, _, _ = cute.arch.thread_idx()
    layout = cute.make_layout((16, 16), stride=(16, 1))
    shared = SmemAllocator().allocate_tensor(out.element_type, layout, byte_alignment=16)
    part = copy.get_slice(thread)
    read = part.partition_S(shared)
    values = cute.make_fragment_like(part.partition_D(shared))
    cute.copy(copy, read, values)
    out[thread] = values[0]


@cute.jit
def host(out: cute.Tensor):
    matrix = warp.LdMatrix8x8x16bOp(transpose=False, num_matrices=4)
    mma = cute.make_tiled_mma(warp.MmaF16BF16Op(out.element_type, cutlass.Float32, (16, 8, 16)))
    copy = cute.make_tiled_copy_A(cute.make_copy_atom(matrix, out.element_type), mma)
    load_fragment(out, copy).launch(grid=(1, 1, 1), block=(32, 1, 1))
