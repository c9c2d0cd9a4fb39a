"""printf of a bf16 that was converted to f32."""

import cutlass
import cutlass.cute as cute


@cute.kernel
def fill(out: cute.Tensor, source: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    cute.printf("{}", source[thread].to(cutlass.Float32))
    out[thread] = 1.0


@cute.jit
def host(out: cute.Tensor, source: cute.Tensor):
    fill(out, source).launch(grid=(1, 1, 1), block=(128, 1, 1))
