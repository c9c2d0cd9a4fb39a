"""Compiles some kernels, of which one strikes down the process: deaths.py HOW [POOL [BLOCK…]]

POOL is one of single, threads, fork, spawn and executor.
"""

import concurrent.futures
import multiprocessing
import sys
import threading

import toolbox
import triton
import triton.language as tl
from toolbox import scaled

OFFSET = tl.constexpr(1)


@triton.jit
def kernel(x_ptr, y_ptr, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    if BLOCK == 128:
        toolbox.strike(HOW)
    tl.store(y_ptr + offsets, scaled(x) + OFFSET, mask=offsets < n)


def warm_up(how, block):
    toolbox.pretend()
    kernel.warmup(toolbox.Tensor(), toolbox.Tensor(), 1000, how, block, grid=(1,), num_warps=2)
    return block


def main(how, pool="single", *blocks):
    blocks = [int(block) for block in blocks] or [64, 128, 256]
    print("begins", flush=True)
    if pool == "single":
        done = [warm_up(how, block) for block in blocks]
    elif pool == "threads":
        threads = [threading.Thread(target=warm_up, args=(how, block)) for block in blocks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        done = blocks
    elif pool in ("fork", "spawn"):
        context = multiprocessing.get_context(pool)
        workers = [context.Process(target=warm_up, args=(how, block)) for block in blocks]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        done = [worker.exitcode for worker in workers]
    else:
        with concurrent.futures.ProcessPoolExecutor(2) as executor:
            done = list(executor.map(warm_up, [how] * len(blocks), blocks))
    print("ends", done, flush=True)
    print("said", file=sys.stderr)
    return 5


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
