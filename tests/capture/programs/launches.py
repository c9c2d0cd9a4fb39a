"""Launches a kernel on a GPU that is none; the driver says that it is no valid value. Prints the traceback's lines."""

import traceback

import toolbox
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1)


def launch(*arguments, **named):
    raise RuntimeError("Triton Error [CUDA]: invalid argument")


toolbox.launches_nothing()
toolbox.Driver.launcher_cls = lambda self, source, metadata: launch
try:
    kernel[(1,)](toolbox.Tensor(), 64)
except RuntimeError:
    print(traceback.format_exc())
