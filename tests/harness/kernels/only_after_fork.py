"""Imports in one process and compiles in another: aborts when the two differ, as LLVM's thread pool can."""

import os

import triton
import triton.language as tl

_importer = os.getpid()
_compile = triton.compile


def _compile_here(*arguments, **named):
    if os.getpid() != _importer:
        os.abort()
    return _compile(*arguments, **named)


triton.compile = _compile_here


@triton.jit
def add(x_ptr, y_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) + 1)
