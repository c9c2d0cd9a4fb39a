"""A helper changes the MMA that it is given, inside a branch of a run-time if: what follows uses a value of the branch."""

import cutlass
import cutlass.cute as cute
import cutlass.utils as utils
import cutlass.utils.hopper_helpers as sm90
from cutlass.cute.nvgpu import warpgroup


registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


def start_at_zero(mma: cute.TiledMma):
    """The next MMA overwrites its sums."""
    mma.set(warpgroup.Field.ACCUMULATE, False)


@cute.kernel
def one_tile(out: cute.Tensor, mma: cute.TiledMma, layout: cute.ComposedLayout, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    shared = utils.SmemAllocator().allocate_tensor(cutlass.Float16, layout.outer, 1024, layout.inner)
    part = mma.get_slice(thread)
    fragment_a = mma.make_fragment_A(part.partition_A(shared))
    fragment_b = mma.make_fragment_B(part.partition_B(shared))
    sums = registers(part.partition_C(out).shape, cutlass.Float32)
    warpgroup.fence()
    if n > 3:
        start_at_zero(mma)
    cute.gemm(mma, sums, fragment_a[None, None, 0, 0], fragment_b[None, None, 0, 0], sums)
    warpgroup.commit_group()
    warpgroup.wait_group(0)
    cute.autovec_copy(sums, part.partition_C(out))


@cute.jit
def host(out: cute.Tensor, n: cutlass.Int32):
    K, order = warpgroup.OperandMajorMode.K, utils.LayoutEnum.ROW_MAJOR
    mma = sm90.make_trivial_tiled_mma(cutlass.Float16, cutlass.Float16, K, K, cutlass.Float32, (1, 1, 1), (64, 64))
    atom = sm90.get_smem_layout_atom(order, cutlass.Float16, 64)
    layout = cute.tile_to_shape(warpgroup.make_smem_layout_atom(atom, cutlass.Float16), (64, 64, 1), order=(0, 1, 2))
    one_tile(out, mma, layout, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
