"""wgmma with 256 columns."""

import cutlass
import cutlass.cute as cute
import cutlass.utils as utils
import cutlass.utils.hopper_helpers as sm90
from cutlass.cute.nvgpu import warpgroup


registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


@cute.kernel
def one_tile(c: cute.Tensor, mma: cute.TiledMma, layout_a: cute.ComposedLayout, layout_b: cute.ComposedLayout, TYPE: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    memory = utils.SmemAllocator()
    a = memory.allocate_tensor(TYPE, layout_a.outer, 1024, layout_a.inner)
    b = memory.allocate_tensor(TYPE, layout_b.outer, 1024, layout_b.inner)
    part = mma.get_slice(thread)
    fragment_a = mma.make_fragment_A(part.partition_A(a))
    fragment_b = mma.make_fragment_B(part.partition_B(b))
    sums = registers(part.partition_C(c).shape, cutlass.Float32)
    warpgroup.fence()
    cute.gemm(mma, sums, fragment_a[None, None, 0, 0], fragment_b[None, None, 0, 0], sums)
    warpgroup.commit_group()
    warpgroup.wait_group(0)
    cute.autovec_copy(sums, part.partition_C(c))


def staged(rows: int, k: int, dtype, k_major: bool):
    """The layout of shared memory for one operand."""
    order = utils.LayoutEnum.ROW_MAJOR if k_major else utils.LayoutEnum.COL_MAJOR
    atom = warpgroup.make_smem_layout_atom(sm90.get_smem_layout_atom(order, dtype, k if k_major else rows), dtype)
    return cute.tile_to_shape(atom, (rows, k, 1), order=(0, 1, 2) if k_major else (1, 0, 2))


@cute.jit
def host(c: cute.Tensor, N: cutlass.Constexpr, TYPE: cutlass.Constexpr):
    K, MN = warpgroup.OperandMajorMode.K, warpgroup.OperandMajorMode.MN
    mma = sm90.make_trivial_tiled_mma(TYPE, TYPE, K, K, cutlass.Float32, (1, 1, 1), (64, min(N, 256)))
    layout_a, layout_b = staged(64, 64, TYPE, True), staged(min(N, 256), 64, TYPE, True)
    one_tile(c, mma, layout_a, layout_b, TYPE).launch(grid=(1, 1, 1), block=(128, 1, 1))
