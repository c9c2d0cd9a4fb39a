"""What isolation of CuTe compiles costs: a ratio within one run, as for Triton (:mod:`test_isolation`)."""

from __future__ import annotations

import json
import subprocess
from itertools import product
from pathlib import Path

import pytest
from test_isolation import LEAST_ROUNDS, MOST_ROUNDS, seconds

from triage.harness.engine import Engine
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen
from triage.model.language import Language
from triage.model.outcome import Outcome, Status
from triage.model.target import Target

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

HERE = Path(__file__).parent
KERNEL = HERE / "kernels" / "cute_product.py"
CONFIGURATIONS = list(product((1, 2, 4, 8), (8, 12, 16, 20, 24, 32, 48, 64)))
MOST = 1.15


def isolated(toolchain: Toolchain, jobs: int | None) -> None:
    """Start of the servers and their end included."""
    matrix = "tensor<{}, (64,64):(64,1), align=16>"
    signature = {"a": matrix.format("f16"), "b": matrix.format("f16"), "c": matrix.format("f32")}
    case = Case(
        folder=KERNEL.parent,
        file=KERNEL.name,
        name="product",
        signature=frozen(signature),
        target=Target("cuda", "90"),
        language=Language.CUTE,
    )
    constants = ({"ROWS": rows, "DEPTH": depth} for rows, depth in CONFIGURATIONS)
    cases = [case.replaced(signature, each, {}, {}, case.target) for each in constants]
    with Engine(jobs=jobs) as engine:
        requests = (Request(each, toolchain, action=FullCompile(use_cache=False)) for each in cases)
        results = [attempt.result for attempt in engine.run(requests)]
    assert all(isinstance(result, Outcome) and result.status is Status.OK for result in results), results
    assert len(results) == len(CONFIGURATIONS)


def in_process(toolchain: Toolchain) -> None:
    """One interpreter, start and imports included."""
    words = [str(toolchain.python), str(HERE / "in_process_cute.py"), str(KERNEL)]
    subprocess.run([*words, *map(json.dumps, CONFIGURATIONS)], check=True, stderr=subprocess.DEVNULL)


def test_isolation_costs_little(newest_cute: Toolchain, capsys: pytest.CaptureFixture[str]) -> None:
    isolated(newest_cute, None)  # files into the page cache
    bare, default, one = (float("inf"),) * 3
    for number in range(MOST_ROUNDS):
        if number >= LEAST_ROUNDS and default <= MOST * bare:
            break
        bare = min(bare, seconds(lambda: in_process(newest_cute)))
        default = min(default, seconds(lambda: isolated(newest_cute, None)))
        one = min(one, seconds(lambda: isolated(newest_cute, 1)))
    with capsys.disabled():
        print(
            f"\n32 CuTe kernels: in process {bare:.2f} s; default jobs {default / bare:.3f} x; one {one / bare:.3f} x"
        )
    assert default <= MOST * bare
