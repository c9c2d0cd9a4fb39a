"""What the programs share: helpers of a kernel in a module of their own, ways to die, and a machine without a GPU."""

import hashlib
import os
import signal
import time
from pathlib import Path

import triton
import triton.language as tl
from triton.language.core import builtin

SCALE = tl.constexpr(2)


@builtin
def strike(how, _builder=None, _semantic=None):
    """End, or do not end, the process that compiles the kernel which calls this."""
    how = getattr(how, "value", how)
    if how == "raise":
        raise RuntimeError("PassManager::run failed")
    if how == "abort":
        os.abort()
    elif how == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "exit":
        os._exit(3)
    elif how == "hang":
        while True:
            time.sleep(1)


@triton.jit
def scaled(x):
    return x * SCALE


class Tensor:
    """What a kernel's launch looks at."""

    class dtype:
        def __init__(self, name):
            self.name = name

        def __str__(self):
            return "torch." + self.name

        def __hash__(self):
            return hash(self.name)

        def __eq__(self, other):
            return str(self) == str(other)

    def __init__(self, dtype="float32"):
        self.dtype = Tensor.dtype(dtype)

    def data_ptr(self):
        return 4096


class Driver:
    """A GPU's driver as far as a warm-up asks it."""

    def __init__(self, target):
        self._target = target

    def get_current_target(self):
        return self._target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0


class Utils:
    """A GPU that loads everything."""

    def get_device_properties(self, device):
        return {"max_shared_mem": 1 << 20}

    def load_binary(self, *arguments):
        # From 3.4 on it tells the most threads as well.
        return (1, 1, 32, 0, 1024)[: 5 if tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 4) else 4]

    def unload_module(self, module):
        pass


def launches_nothing():
    """Kernels can be launched and tuned from here on; each run of one takes a millisecond."""
    Driver.launcher_cls = lambda self, source, metadata: lambda *arguments, **named: None
    Driver.utils = Utils()
    Driver.get_benchmarker = lambda self: lambda call, quantiles: (call(), [1.0, 1.0, 1.0])[1]
    pretend()


def pretend(arch=90):
    """Kernels can be warmed up from here on."""
    from triton.backends.compiler import GPUTarget

    share_key()
    triton.runtime.driver.set_active(Driver(GPUTarget("cuda", arch, 32)))


def share_key():
    """Triton's hash of its own files, which takes it a third of a second: one process of a test session computes it."""
    folder = os.environ.get("TEST_TRITON_KEYS")
    holder = triton.compiler.compiler if hasattr(triton.compiler.compiler, "triton_key") else triton.runtime.cache
    if not folder or not hasattr(holder, "triton_key"):
        return
    path = Path(folder, hashlib.sha256(triton.__file__.encode()).hexdigest())
    try:
        key = path.read_text()
    except FileNotFoundError:
        key = holder.triton_key()
        whole = Path(f"{path}.{os.getpid()}")  # no other process ever reads half a key
        whole.write_text(key)
        whole.replace(path)
    holder.triton_key = lambda: key
