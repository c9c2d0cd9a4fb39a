"""A has 32 columns and B 64: K differs."""

import cutlass
import cutlass.cute as cute

registers = getattr(cute, "make_rmem_tensor", None) or cute.make_fragment


@cute.kernel
def product(a: cute.Tensor, b: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    op = cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16))
    mma = cute.make_tiled_mma(op, cute.make_layout((2, 2, 1)))
    part = mma.get_slice(thread)
    a_values = mma.make_fragment_A(part.partition_A(cute.local_tile(a, (64, 32), (0, 0))))
    b_values = mma.make_fragment_B(part.partition_B(cute.local_tile(b, (64, 64), (0, 0))))
    sums = registers(mma.partition_shape_C((64, 64)), cutlass.Float32)
    cute.gemm(mma, sums, a_values, b_values, sums)


@cute.jit
def host(a: cute.Tensor, b: cute.Tensor):
    product(a, b).launch(grid=(1, 1, 1), block=(128, 1, 1))
