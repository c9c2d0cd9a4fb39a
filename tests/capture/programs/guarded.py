"""Compiles some kernels, of which one would strike down the process: guarded.py HOW [POOL [BLOCK…]] [+ HOW …]

It says of each how it went. POOL is one of single, threads, fork and spawn; with cross instead, it says what the parent
of a worker gets.
"""

import concurrent.futures
import multiprocessing
import sys

import toolbox
import triton
from deaths import kernel


def compile_one(how, block):
    toolbox.pretend()
    try:
        kernel.warmup(toolbox.Tensor(), toolbox.Tensor(), 1000, how, block, grid=(1,), num_warps=2)
    except Exception as error:
        return block, type(error).__name__, str(error).splitlines()[0]
    return block, "compiled"


def warm_up(how, block):
    toolbox.pretend()
    kernel.warmup(toolbox.Tensor(), toolbox.Tensor(), 1000, how, block, grid=(1,), num_warps=2)


def cross(how, block):
    """The exception of a worker, as its parent gets it."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        error = executor.submit(warm_up, how, block).exception()
    print(type(error).__name__, isinstance(error, triton.runtime.OutOfResources), str(error).splitlines()[0])


def main(how, pool="single", *blocks):
    blocks = [int(block) for block in blocks] or [64, 128, 256, 128]
    if pool == "cross":
        cross(how, *blocks)
        return
    if pool == "single":
        done = [compile_one(how, block) for block in blocks]
    elif pool == "threads":
        with concurrent.futures.ThreadPoolExecutor(4) as executor:
            done = list(executor.map(compile_one, [how] * len(blocks), blocks))
    else:
        context = multiprocessing.get_context(pool)
        with concurrent.futures.ProcessPoolExecutor(2, context) as executor:
            done = list(executor.map(compile_one, [how] * len(blocks), blocks))
    for one in done:
        print(*one)


if __name__ == "__main__":
    for arguments in " ".join(sys.argv[1:]).split(" + "):
        main(*arguments.split())
