"""Warms up kernels whose source is in odd places, or that reach for what is elsewhere; prints the name of each."""

from __future__ import annotations

import linecache
import math
import sys

import toolbox
import triton
import triton.language as T
import triton.language as tl
from toolbox import SCALE as FACTOR
from toolbox import Tensor
from toolbox import scaled as twice
from triton.language import cdiv
from triton.language.standard import _log2 as lg

CELL = """
import triton
import triton.language as tl

C = tl.constexpr(3)

@triton.jit
def scaled(x):
    return x + C

@triton.jit
def in_a_cell(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, scaled(tl.load(x_ptr + offsets)))
"""
NEW = hasattr(triton, "knobs")
"""From 3.4 on: closures, functions as constexprs, compile-time functions."""


def cell():
    """A kernel that ``exec`` made, whose text is where notebooks have it."""
    linecache.cache["<cell 3>"] = (len(CELL), None, CELL.splitlines(True), "<cell 3>")
    names = {"__name__": "__main__"}
    exec(compile(CELL, "<cell 3>", "exec"), names)
    return names["in_a_cell"], names["scaled"]


in_a_cell, added = cell()


@triton.jit
def middle(x):
    return toolbox.scaled(x) + added(x)


@triton.heuristics({"EVEN": lambda arguments: True})
@triton.jit
def clashes(x_ptr, y_ptr, n, stride, flag, EVEN: tl.constexpr, BLOCK: tl.constexpr, DTYPE: tl.constexpr = tl.float16):
    # Two helpers called scaled, an alias of a module, a local name of a helper: é
    scaled = 3
    offsets = T.arange(0, BLOCK) * stride
    x = tl.load(x_ptr + offsets).to(DTYPE)
    if y_ptr is not None:
        tl.store(y_ptr + offsets, n)
    if EVEN:
        x = middle(x) + twice(x) * FACTOR + added(x)
        tl.store(x_ptr + offsets, x + toolbox.scaled(x) + scaled + cdiv(BLOCK, 2) + lg(BLOCK))


def closed_over(factor, function):
    @triton.jit
    def closure(x_ptr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x_ptr + offsets, function(tl.load(x_ptr + offsets)) * factor)

    return closure


@triton.jit
def with_functions(x_ptr, F: tl.constexpr, BLOCK: tl.constexpr, INF: tl.constexpr, G: tl.constexpr = None):
    offsets = tl.arange(0, BLOCK)
    x = F(tl.load(x_ptr + offsets, mask=offsets < 3, other=INF))
    if G is None:
        x += compile_time(BLOCK)
    tl.store(x_ptr + offsets, x)


if NEW:
    try:
        from triton import constexpr_function
    except ImportError:  # 3.4
        from triton.language import constexpr_function

    @constexpr_function
    def bits(n):
        return len(bin(n)) + int(math.log2(n))

    @constexpr_function
    def compile_time(n):
        return bits(n)


def gluon_kernel():
    from triton.experimental import gluon
    from triton.experimental.gluon import language as ttgl

    @gluon.jit
    def in_gluon(x_ptr, LAYOUT: ttgl.constexpr, BLOCK: ttgl.constexpr):
        offsets = ttgl.arange(0, BLOCK, layout=LAYOUT)
        ttgl.store(x_ptr + offsets, ttgl.load(x_ptr + offsets) + 1)

    in_gluon.warmup(Tensor(), ttgl.BlockedLayout([1], [32], [4], [0]), 128, grid=(1,))


def main():
    toolbox.pretend()
    in_a_cell.warmup(Tensor(), 64, grid=(1,))
    clashes.run(Tensor("float16"), None, 48, 1, True, BLOCK=64, grid=(1,), warmup=True)
    if NEW:
        closed_over(tl.constexpr(4), added).warmup(Tensor(), 64, grid=(1,))
        with_functions.warmup(Tensor(), added, 64, float("-inf"), grid=(1,))
    if "gluon" in sys.argv:
        gluon_kernel()
    print("ends")


if __name__ == "__main__":
    main()
