"""A block of a Hopper GPU has at most 227 KiB of shared memory; the DSL compiles more, and the launch fails."""

import cutlass
import cutlass.cute as cute
from cutlass.utils import SmemAllocator


@cute.kernel
def turn_round(out: cute.Tensor, KIB: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    shared = SmemAllocator().allocate_tensor(cutlass.Float32, cute.make_layout(KIB * 256), byte_alignment=16)
    shared[thread] = out[thread]
    cute.arch.sync_threads()
    out[thread] = shared[127 - thread]


@cute.jit
def host(out: cute.Tensor, KIB: cutlass.Constexpr):
    turn_round(out, KIB).launch(grid=(1, 1, 1), block=(128, 1, 1))
