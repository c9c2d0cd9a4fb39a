"""A function that torch compiles in the worker processes of its own."""

import os

import torch
from torch._inductor.async_compile import AsyncCompile

AsyncCompile.wait_pool_ready()


@torch.compile
def function(x, w):
    return torch.softmax(torch.nn.functional.gelu(x @ w) + 1, -1).sum(), (x * 2).cumsum(-1), x.sort(-1)[0]


function(torch.rand(64, 256, device="cuda"), torch.rand(256, 256, device="cuda"))
print("process", os.getpid())
