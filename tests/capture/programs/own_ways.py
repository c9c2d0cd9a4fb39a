"""Has the compiler die, of something that is the program's own and no kernel's, at a stage of one kernel."""

import os

import toolbox
import triton
import triton.language as tl
from triton.backends import backends


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)


compiler = backends["nvidia"].compiler
make_llir = compiler.make_llir


def dies(*arguments, **named):
    os.abort()


toolbox.pretend()
kernel.warmup(toolbox.Tensor(), 64, grid=(1,))
compiler.make_llir = dies
kernel.warmup(toolbox.Tensor(), 128, grid=(1,))
