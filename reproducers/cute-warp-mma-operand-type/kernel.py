"""MmaF16BF16Op multiplies f16 or bf16, not f32."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.nvgpu import warp
from cutlass.utils import SmemAllocator


registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


@cute.kernel
def one_tile(c: cute.Tensor, mma: cute.TiledMma, TYPE: cutlass.Constexpr, SUM: cutlass.Constexpr, K: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    memory = SmemAllocator()
    a = memory.allocate_tensor(TYPE, cute.make_layout((16, K), stride=(K, 1)), byte_alignment=16)
    b = memory.allocate_tensor(TYPE, cute.make_layout((8, K), stride=(K, 1)), byte_alignment=16)
    part = mma.get_slice(thread)
    rows_a, rows_b = part.partition_A(a), part.partition_B(b)
    fragment_a, fragment_b = mma.make_fragment_A(rows_a), mma.make_fragment_B(rows_b)
    sums = registers(part.partition_C(c).shape, SUM)
    sums.fill(0.0)
    cute.autovec_copy(rows_a, fragment_a)
    cute.autovec_copy(rows_b, fragment_b)
    cute.gemm(mma, sums, fragment_a, fragment_b, sums)
    cute.autovec_copy(sums, part.partition_C(c))


@cute.jit
def host(c: cute.Tensor, TYPE: cutlass.Constexpr, SUM: cutlass.Constexpr, K: cutlass.Constexpr):
    mma = cute.make_tiled_mma(warp.MmaF16BF16Op(TYPE, SUM, (16, 8, K)))
    one_tile(c, mma, TYPE, SUM, K).launch(grid=(1, 1, 1), block=(32, 1, 1))
