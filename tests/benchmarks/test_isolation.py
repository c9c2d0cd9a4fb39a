"""What isolation costs: ratios within one run, so that they hold on any machine that has nothing else to do.

Run with ``pytest -m slow tests/benchmarks``. The sides are measured in turn, and of each the fastest run counts:
whatever else the machine does can only make a run slower. On a busy machine it takes more rounds to see that.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from triage.harness.engine import Engine
from triage.harness.request import Request
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome, Status
from triage.model.target import Target

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

HERE = Path(__file__).parent
MATMUL = HERE.parent / "harness" / "kernels" / "matmul.py"
LEAST_ROUNDS, MOST_ROUNDS = 2, 8
SIGNATURE = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16", "M": "i32", "N": "i32", "K": "i32"}
CONFIGURATIONS: list[tuple[dict[str, int], dict[str, int]]] = [
    ({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, {"num_warps": warps, "num_stages": stages})
    for m, n, k, warps, stages in product((64, 128), (32, 64), (32, 64), (4, 8), (2, 3))
]


def cases(path: Path = MATMUL) -> list[Case]:
    return [
        Case(
            folder=path.parent,
            file=path.name,
            name="matmul",
            signature=frozen(SIGNATURE),
            constexprs=frozen(constexprs),
            divisible=frozen({"M": 16, "N": 16, "K": 16}),
            target=Target("cuda", "90"),
            options=frozen(options),
        )
        for constexprs, options in CONFIGURATIONS
    ]


def seconds(action: Callable[[], Any]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def isolated(toolchain: Toolchain, jobs: int, path: Path = MATMUL) -> None:
    """Start of the servers and their end included."""
    with Engine(jobs=jobs) as engine:
        results = [attempt.result for attempt in engine.run(Request(case, toolchain) for case in cases(path))]
    assert all(isinstance(result, Outcome) and result.status is Status.OK for result in results)
    assert len(results) == len(CONFIGURATIONS)


def in_process(toolchain: Toolchain, configurations: list[Any], path: Path = MATMUL) -> None:
    """One interpreter, start and imports included."""
    words = [str(toolchain.python), str(HERE / "in_process.py"), str(path), "90"]
    subprocess.run([*words, *map(json.dumps, configurations)], check=True, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def toolchain(toolchains: Toolchains) -> Toolchain:
    return toolchains.default()


def test_isolation_is_nearly_free(toolchain: Toolchain, capsys: pytest.CaptureFixture[str]) -> None:
    isolated(toolchain, 1)  # files into the page cache, and Triton's own hash remembered
    bare, one, two = (float("inf"),) * 3
    for number in range(MOST_ROUNDS):
        if number >= LEAST_ROUNDS and one <= 1.10 * bare and two <= 0.60 * bare:
            break
        bare = min(bare, seconds(lambda: in_process(toolchain, CONFIGURATIONS)))
        one = min(one, seconds(lambda: isolated(toolchain, 1)))
        two = min(two, seconds(lambda: isolated(toolchain, 2)))
    # Every configuration in an interpreter of its own takes long: eight of them show the mean as well.
    some = CONFIGURATIONS[::4]
    fresh = seconds(lambda: [in_process(toolchain, [one]) for one in some]) / len(some) * len(CONFIGURATIONS)
    with capsys.disabled():
        print(
            f"\n32 matmuls: in process {bare:.2f} s; one job {one / bare:.3f} x; two jobs {two / bare:.3f} x; "
            f"a fresh interpreter each {fresh / one:.2f} x one job"
        )
    assert one <= 1.10 * bare
    assert two <= 0.60 * bare
    assert fresh >= 3 * one


@pytest.mark.parametrize("slow_import", ["import time; time.sleep(3)", "import torch"])
def test_a_slow_import_is_paid_once(
    toolchain: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str], slow_import: str
) -> None:
    statement = [str(toolchain.python), "-c", slow_import]
    if subprocess.run(statement, check=False, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip(f"cannot {slow_import} there")
    path = tmp_path / "matmul.py"
    path.write_text(slow_import + "\n" + MATMUL.read_text())
    plain = seconds(lambda: isolated(toolchain, 1))
    slow = seconds(lambda: isolated(toolchain, 1, path))
    once = seconds(lambda: subprocess.run(statement, check=True))
    with capsys.disabled():
        print(f"\n{slow_import}: {once:.2f} s once; 32 compiles take {slow - plain:.2f} s longer with it")
    # Half of it again for noise between two runs of ten seconds; twice would be twice.
    assert slow - plain < 1.5 * once + 0.15 * plain


def test_help_starts_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    def start(*words: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True))

    pairs = [(start("-c", "import click"), start("-m", "triage", "--help")) for _ in range(10)]
    click, shown = map(min, zip(*pairs, strict=True))
    with capsys.disabled():
        print(f"\ntriage --help: {shown / click:.2f} x importing click ({shown * 1000:.0f} ms)")
    assert shown <= 2 * click
