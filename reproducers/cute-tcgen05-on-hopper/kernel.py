"""tcgen05 is Blackwell's tensor-core instruction; Hopper has wgmma."""

import cutlass
import cutlass.cute as cute
import cutlass.utils as utils
import cutlass.utils.blackwell_helpers as sm100
from cutlass.cute.nvgpu import tcgen05


@cute.kernel
def one_tile(mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, M: cutlass.Constexpr, N: cutlass.Constexpr):
    memory = utils.SmemAllocator()
    a = memory.allocate_tensor(cutlass.Float16, layout_a.outer, 1024, layout_a.inner)
    b = memory.allocate_tensor(cutlass.Float16, layout_b.outer, 1024, layout_b.inner)
    fragment_a, fragment_b = mma.make_fragment_A(a), mma.make_fragment_B(b)
    sums = mma.make_fragment_C(mma.partition_shape_C((M, N)))
    cute.gemm(mma, sums, fragment_a[None, None, 0, 0], fragment_b[None, None, 0, 0], sums)


@cute.jit
def host(blocks: cutlass.Int32, M: cutlass.Constexpr, N: cutlass.Constexpr):
    K = tcgen05.OperandMajorMode.K
    group, source = tcgen05.CtaGroup.ONE, tcgen05.OperandSource.SMEM
    op = tcgen05.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (M, N, 16), group, source, K, K)
    mma = cute.make_tiled_mma(op)
    layout_a = sm100.make_smem_layout_a(mma, (M, N, 64), cutlass.Float16, 1)
    layout_b = sm100.make_smem_layout_b(mma, (M, N, 64), cutlass.Float16, 1)
    one_tile(mma, layout_a, layout_b, M, N).launch(grid=(blocks, 1, 1), block=(128, 1, 1))
