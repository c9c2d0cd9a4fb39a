import cutlass
import cutlass.utils
from cutlass import cute


class Loader:
    def __init__(self, threads, stages, layout):
        self.threads = threads
        self.stages = stages
        self.layout = layout

    @cute.jit
    def __call__(self, x: cute.Tensor):
        if cutlass.const_expr(self.layout == "rows"):
            layout = cute.make_layout((128, 128, self.stages), stride=(128, 1, 128 * 128))
        else:
            layout = cute.make_layout((128, 128, self.stages))
        self.kernel(x, layout).launch(grid=(1, 1, 1), block=(self.threads, 1, 1))

    @cute.kernel
    def kernel(self, x: cute.Tensor, layout: cute.Layout):
        tidx, _, _ = cute.arch.thread_idx()
        tile = cutlass.utils.SmemAllocator().allocate_tensor(cutlass.BFloat16, layout, byte_alignment=16)
        tile[tidx, 0, 0] = x[tidx].to(cutlass.BFloat16)
        cute.arch.sync_threads()
        x[tidx] = tile[tidx, 0, 0].to(cutlass.Float32)


@cute.kernel
def move(x: cute.Tensor, y: cute.Tensor, tiled: cute.TiledCopy):
    tidx, _, _ = cute.arch.thread_idx()
    part = tiled.get_slice(tidx)
    held = cute.make_fragment_like(part.partition_S(x))
    cute.copy(tiled, part.partition_S(x), held)
    cute.copy(tiled, held, part.partition_D(y))


@cute.jit
def vectors(x: cute.Tensor, y: cute.Tensor):
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), x.element_type, num_bits_per_copy=128)
    tiled = cute.make_tiled_copy_tv(atom, cute.make_layout((8, 16), stride=(16, 1)), cute.make_layout((1, 8)))
    move(x, y, tiled).launch(grid=(1, 1, 1), block=(128, 1, 1))
