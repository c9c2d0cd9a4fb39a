"""An autotuned kernel, launched on a GPU that is none, of which one configuration asks for too much shared memory."""

import toolbox
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 128})], key=[])
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets, tl.dot(x, tl.trans(x)))


class Utils:
    def get_device_properties(self, device):
        return {"max_shared_mem": 10000}

    def load_binary(self, *arguments):
        return 1, 1, 32, 0, 1024

    def unload_module(self, module):
        pass


toolbox.Driver.launcher_cls = lambda self, source, metadata: lambda *arguments, **named: None
toolbox.Driver.utils = Utils()
toolbox.Driver.get_benchmarker = lambda self: lambda call, quantiles: (call(), [1.0, 1.0, 1.0])[1]
toolbox.pretend()
kernel[(1,)](toolbox.Tensor("float16"))
print(kernel.best_config)
