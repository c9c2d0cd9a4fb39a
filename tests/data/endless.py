"""A kernel whose compile does not end, and takes no processor time."""

import time

import triton
import triton.language as tl
from triton.language.core import builtin


@builtin
def wait(_builder=None, _semantic=None):
    time.sleep(1000)


@triton.jit
def endless(x_ptr, BLOCK: tl.constexpr):
    wait()
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0)
