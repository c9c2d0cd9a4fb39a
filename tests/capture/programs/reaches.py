"""Launches, tunes and warms up kernels as on a GPU, with the stand-ins of tensors that a program without torch has."""

import sys

import toolbox
import triton
import triton.language as tl
from toolbox import Tensor


@triton.jit
def plain(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + n)


@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if BLOCK == 8:
        offsets += tl.arange(0, 7)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + n)


@triton.jit
def greedy(a_ptr, b_ptr, c_ptr, n, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, BLOCK):
        a = tl.load(a_ptr + rows * 4096 + start + columns)
        b = tl.load(b_ptr + (start + rows) * 4096 + columns)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows * BLOCK + columns, total)


@triton.jit
def dying(x_ptr, HOW: tl.constexpr):
    toolbox.strike(HOW)
    tl.store(x_ptr, 1.0)


def tune():
    given = ((8, 4), (64, 4), (128, 8))
    configs = [triton.Config({"BLOCK": block}, num_warps=warps) for block, warps in given]
    tuner = triton.autotune(configs, key=["n"])(tuned)
    tuner[lambda meta: (triton.cdiv(64, meta["BLOCK"]),)](Tensor(), 48)
    print(tuner.best_config.kwargs)


def main():
    print(triton.runtime.driver.active.get_current_target())
    plain[(1,)](Tensor(), 3, BLOCK=64)
    plain.warmup(Tensor("float16"), 3, 64, grid=(1,))
    if "tuned" in sys.argv:
        tune()
    if "greedy" in sys.argv:
        try:
            halves = [Tensor("float16"), Tensor("float16")]
            greedy[(1,)](*halves, Tensor(), 4096, BLOCK=64, num_stages=9)
        except triton.runtime.errors.OutOfResources as error:
            print(error)
    if "torch" in sys.argv:
        __import__("torch_that_is_not_there")
    if "dies" in sys.argv:
        dying[(1,)](Tensor(), HOW="abort")
        print("goes on")


if __name__ == "__main__":
    toolbox.share_key()
    main()
