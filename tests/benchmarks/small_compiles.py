"""A thousand small compiles, and the processor time that they take: here, and in every process below."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from triage.model.case import Case, frozen

IN_PROCESS = Path(__file__).parent / "in_process.py"
KERNEL = """
import triton
import triton.language as tl


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    at = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    tl.store(c_ptr + at, tl.load(a_ptr + at, mask=at < M) + tl.load(b_ptr + at, mask=at < N) * BLOCK_N, mask=at < K)
"""
"""A kernel as ``in_process.py`` compiles it."""
AXES = {
    "BLOCK_M": [16, 32, 64, 128, 256, 512, 1024, 2048],
    "BLOCK_N": [1, 2, 3, 4, 5],
    "num_warps": [1, 2, 4, 8, 16],
    "num_stages": [1, 2, 3, 4, 5],
}
CELLS = 1000


@dataclass(slots=True)
class Usage:
    """Seconds: of the wall, of this process's processor time, and of that of the processes below it that have ended."""

    wall_s: float = 0.0
    own_s: float = 0.0
    below_s: float = 0.0

    @property
    def all_s(self) -> float:
        """Processor time of all processes."""
        return self.own_s + self.below_s

    @property
    def share(self) -> float:
        """The part of all processor time that this process took."""
        return self.own_s / self.all_s


@contextmanager
def measured() -> Iterator[Usage]:
    """What the body takes, if all processes that it starts end in it."""
    usage = Usage()
    before = _times()
    yield usage
    usage.wall_s, usage.own_s, usage.below_s = (now - then for now, then in zip(_times(), before, strict=True))


def _times() -> tuple[float, float, float]:
    below = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), time.process_time(), below.ru_utime + below.ru_stime


def case_in(folder: Path) -> Case:
    """The kernel as a case of its own."""
    (folder / "kernel.py").write_text(KERNEL)
    signature = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    return Case(
        folder,
        "kernel.py",
        "matmul",
        frozen(signature),
        frozen({"BLOCK_M": 16, "BLOCK_N": 1}),
        divisible=frozen({"M": 16, "N": 16, "K": 16}),
    )


def bare_loop(case: Case) -> Usage:
    """All cells in one plain interpreter, one after the other."""
    configurations = [
        json.dumps([{"BLOCK_M": block, "BLOCK_N": factor}, {"num_warps": warps, "num_stages": stages}])
        for block, factor, warps, stages in product(*AXES.values())
    ]
    with measured() as usage:
        subprocess.run([sys.executable, IN_PROCESS, case.path, "90", *configurations], check=True, capture_output=True)
    return usage
