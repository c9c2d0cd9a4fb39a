"""A kernel whose block size Helion chooses: tuned_by_helion.py BLOCK..."""

import sys

import triton
import triton.language as tl
from helion.autotuner import search
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

KERNEL = """import triton
import triton.language as tl

@triton.jit
def scale(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)

def host(x, *, _launcher=None):
    _launcher(scale, (1,), x, 2097152, num_warps=4)
"""


@triton.jit
def scale(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


def compile_one(block):
    source = ASTSource(scale, {"x": "*fp32", "BLOCK": "constexpr"}, {(1,): block}, {})
    triton.compile(source, target=GPUTarget("cuda", 90, 32))


print("best", search.best(compile_one, [int(word) for word in sys.argv[1:]], KERNEL))
