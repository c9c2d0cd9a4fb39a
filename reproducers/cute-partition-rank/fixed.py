"""The same elements with two modes."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def kernel(x: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    mma = cute.make_tiled_mma(cute.nvgpu.warp.MmaF16BF16Op(cutlass.Float16, cutlass.Float32, (16, 8, 16)))
    tiles = cute.make_tensor(x.iterator, cute.make_layout((16, 16), stride=(16, 1)))
    part = mma.get_slice(thread).partition_A(tiles)
    part[0] = part[0]


@cute.jit
def host(x: cute.Tensor, n: cutlass.Int32):
    kernel(x, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
