"""Within ``with triage.guard():`` and a CUDA context, four threads compile and launch; one kernel kills compilers."""

import os
from concurrent.futures import ThreadPoolExecutor

import torch
import triton
import triton.language as tl
from triton.language.core import builtin

import triage


@builtin
def strike(how, _semantic=None):
    """End the process that compiles the kernel which calls this."""
    if how == 128:
        os.abort()


@triton.jit
def add(x_ptr, y_ptr, BLOCK: tl.constexpr):
    strike(BLOCK)
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i) + 1)


def launch(block):
    x = torch.randn(block, device="cuda")
    y = torch.empty_like(x)
    try:
        add[(1,)](x, y, block)
    except Exception as error:
        return type(error).__name__
    return torch.equal(y, x + 1)


torch.zeros(1, device="cuda")
with triage.guard(quiet=True) as guarded, ThreadPoolExecutor(4) as pool:
    print(list(pool.map(launch, [64, 128, 256, 128])))
print(len(guarded.refused), torch.zeros(1, device="cuda").item())
