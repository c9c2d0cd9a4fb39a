"""Compiles a kernel and loads it on a GPU that has little shared memory, and then on one that rejects the binary."""

import traceback

import toolbox
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets, tl.dot(x, tl.trans(x)))


class Utils:
    def get_device_properties(self, device):
        return {"max_shared_mem": [100, 1 << 20][device]}

    def load_binary(self, *arguments):
        raise RuntimeError("Triton Error [CUDA]: device kernel image is invalid")


toolbox.pretend()
toolbox.Driver.launcher_cls = lambda self, source, metadata: lambda *arguments: None
toolbox.Driver.utils = Utils()
compiled = kernel.warmup(toolbox.Tensor("float16"), 64, grid=(1,))
for device in (0, 1):
    # Triton remembers what a device has.
    toolbox.Driver.get_current_device = lambda self, device=device: device
    try:
        compiled._init_handles()
    except Exception:
        traceback.print_exc()
