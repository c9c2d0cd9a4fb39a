"""A thread has four columns of one row, which are neighbours in memory."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def through_registers(source: cute.Tensor, target: cute.Tensor, copy: cute.TiledCopy):
    thread, _, _ = cute.arch.thread_idx()
    part = copy.get_slice(thread)
    read = part.partition_S(source)
    values = cute.make_fragment_like(read)
    cute.copy(copy, read, values)
    cute.copy(copy, values, part.partition_D(target))


@cute.jit
def host(source: cute.Tensor, target: cute.Tensor):
    atom = cute.make_copy_atom(cute.nvgpu.CopyUniversalOp(), source.element_type, num_bits_per_copy=128)
    copy = cute.make_tiled_copy_tv(atom, cute.make_layout((4, 32), stride=(32, 1)), cute.make_layout((1, 4)))
    through_registers(source, target, copy).launch(grid=(1, 1, 1), block=(128, 1, 1))
