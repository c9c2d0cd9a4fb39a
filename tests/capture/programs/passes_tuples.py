"""Warms up kernels that take tuples: of pointers, numbers and constants, in each other, with names, with a default."""

from typing import NamedTuple

import toolbox
import triton
import triton.language as tl
from toolbox import Tensor


class Strided(NamedTuple):
    pointer: object
    stride: object


@triton.jit
def added(parts, offsets):
    return tl.load(parts[0] + offsets) + tl.load(parts[1][0] + offsets) * parts[1][1]


@triton.jit
def takes_tuples(xs, out_ptr, n, BLOCK: tl.constexpr):
    """What it does."""
    xs_0 = tl.arange(0, BLOCK)
    value = added(xs, xs_0)
    if xs[2] is None:
        value += n
    tl.store(out_ptr + xs_0, value)


@triton.jit
def takes_named(out, BLOCK: tl.constexpr = 64, more=(1, 2)):
    offsets = tl.arange(0, BLOCK)
    tl.store(out.pointer + offsets * out.stride, offsets + more[1])


def main():
    toolbox.pretend()
    xs = (Tensor("float16"), (Tensor(), 48), None, 1, 3.5)
    takes_tuples.warmup(xs, Tensor(), 7, BLOCK=64, grid=(1,))
    takes_named.warmup(Strided(Tensor(), 3), BLOCK=128, grid=(1,))
    takes_named.warmup(Strided(Tensor(), 16), 64, (Tensor(), 5), grid=(1,))
    print("ends")


main()
