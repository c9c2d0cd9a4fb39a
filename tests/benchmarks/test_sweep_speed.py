"""What a sweep costs: 1,000 small compiles with two jobs, against a plain loop in one interpreter, and what it adds to
the harness: part of the two processors' time.

Run with ``pytest -m slow tests/benchmarks``, on a machine that has nothing else to do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import pytest

import triage
from triage.harness.engine import Engine
from triage.harness.request import Request
from triage.harness.toolchains import Toolchains
from triage.model.case import Case, frozen
from triage.sweeps.axes import axes_of, case_space
from triage.sweeps.observation import CellState
from triage.sweeps.sweep import SweepOptions

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

HERE = Path(__file__).parent
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
MOST_OF_A_LOOP, MOST_OWN = 0.60, 0.02


def test_a_thousand_small_compiles(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text(KERNEL)
    configurations = [
        json.dumps([{"BLOCK_M": block, "BLOCK_N": factor}, {"num_warps": warps, "num_stages": stages}])
        for block, factor, warps, stages in product(*AXES.values())
    ]
    began = time.monotonic()
    command = [sys.executable, HERE / "in_process.py", kernel, "90", *configurations]
    subprocess.run(command, check=True, capture_output=True)
    loop_s = time.monotonic() - began
    signature = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
    case = Case(
        tmp_path,
        kernel.name,
        "matmul",
        frozen(signature),
        frozen({"BLOCK_M": 16, "BLOCK_N": 1}),
        divisible=frozen({"M": 16, "N": 16, "K": 16}),
    )
    began, own = time.monotonic(), time.process_time()
    sweep = triage.sweep(case, AXES, options=SweepOptions(folder=tmp_path, jobs=2, cache=False))
    sweep_s, own_s = time.monotonic() - began, time.process_time() - own
    assert sweep.cells_in(CellState.COMPILED).bit_count() == 1000
    # The same compiles without keys, ledger, rules and map.
    own = time.process_time()
    with Engine(2) as engine:
        toolchain = Toolchains().default()
        space = case_space(case, axes_of(AXES, case), ())
        for _ in engine.run(Request(space.case(cell), toolchain) for cell in range(1000)):
            pass
    added = (own_s - (time.process_time() - own)) / (2 * sweep_s)
    figures = f"{sweep_s:.1f} s against {loop_s:.1f} s: {sweep_s / loop_s:.2f}; added to the harness: {added:.4f}"
    print(figures)
    assert sweep_s <= MOST_OF_A_LOOP * loop_s, figures
    assert added <= MOST_OWN, figures
