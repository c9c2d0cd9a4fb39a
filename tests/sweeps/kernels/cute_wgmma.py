"""One wgmma tile in CuTe DSL; most axes are types and orders."""

import cutlass
import cutlass.utils.hopper_helpers as sm90
from cutlass import cute, utils
from cutlass.cute.nvgpu import warpgroup


@cute.kernel
def one_tile(
    c: cute.Tensor,
    mma: cute.TiledMma,
    layout_a: cute.ComposedLayout,
    layout_b: cute.ComposedLayout,
    TYPE: cutlass.Constexpr,
    SUM: cutlass.Constexpr,
):
    thread, _, _ = cute.arch.thread_idx()
    memory = utils.SmemAllocator()
    a = memory.allocate_tensor(TYPE, layout_a.outer, 1024, layout_a.inner)
    b = memory.allocate_tensor(TYPE, layout_b.outer, 1024, layout_b.inner)
    part = mma.get_slice(thread)
    fragment_a = mma.make_fragment_A(part.partition_A(a))
    fragment_b = mma.make_fragment_B(part.partition_B(b))
    sums = cute.make_rmem_tensor(part.partition_C(c).shape, SUM)
    warpgroup.fence()
    cute.gemm(mma, sums, fragment_a[None, None, 0, 0], fragment_b[None, None, 0, 0], sums)
    warpgroup.commit_group()
    warpgroup.wait_group(0)


def staged(rows: int, k: int, stages: int, dtype, k_major: bool):
    order = utils.LayoutEnum.ROW_MAJOR if k_major else utils.LayoutEnum.COL_MAJOR
    atom = warpgroup.make_smem_layout_atom(sm90.get_smem_layout_atom(order, dtype, k if k_major else rows), dtype)
    return cute.tile_to_shape(atom, (rows, k, stages), order=(0, 1, 2) if k_major else (1, 0, 2))


def major(k_major: bool):
    return warpgroup.OperandMajorMode.K if k_major else warpgroup.OperandMajorMode.MN


@cute.jit
def host(
    c: cute.Tensor,
    N: cutlass.Constexpr,
    K: cutlass.Constexpr,
    STAGES: cutlass.Constexpr,
    TYPE: cutlass.Constexpr,
    SUM: cutlass.Constexpr,
    A_BY_K: cutlass.Constexpr,
    B_BY_K: cutlass.Constexpr,
    B_STORED_BY_K: cutlass.Constexpr,
):
    mma = sm90.make_trivial_tiled_mma(TYPE, TYPE, major(A_BY_K), major(B_BY_K), SUM, (1, 1, 1), (64, N))
    layout_a, layout_b = staged(64, K, STAGES, TYPE, A_BY_K), staged(N, K, STAGES, TYPE, B_STORED_BY_K)
    one_tile(c, mma, layout_a, layout_b, TYPE, SUM).launch(grid=(1, 1, 1), block=(128, 1, 1))
