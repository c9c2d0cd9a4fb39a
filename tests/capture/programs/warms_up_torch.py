"""A program that imports torch, and warms kernels up for a GPU that is none."""

import sys

import toolbox
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) + n)


toolbox.pretend()
kernel.warmup(torch.empty(64), 3, 64, grid=(1,))
kernel.warmup(torch.float16, 3, 64, grid=(1,))
print("cuda" in str(torch.device("cuda", 0)), torch.arange(3).tolist())
print("to standard error", file=sys.stderr)
sys.exit(5)
