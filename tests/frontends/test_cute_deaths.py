"""Two hundred CuTe compiles in one engine, of which a quarter die: each is answered as it is alone, and nothing is
left."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from conftest import Traces
from cute_environments import CUTE_KERNELS

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.model.case import Case, frozen
from triage.model.language import Language
from triage.model.outcome import Outcome, Status
from triage.model.target import Target

MATRIX, NUMBERS = "tensor<f16, (128,64):(64,1), align=16>", "tensor<i32, (128):(1), align=16>"
WORKING, TIMEOUT_S = 150, 8.0


def case(name: str, number: int, **constexprs: Any) -> Case:
    argument = {"source": MATRIX} if name == "tiled_copy" else {"numbers": NUMBERS}
    return Case(
        folder=CUTE_KERNELS,
        file="deaths.py",
        name=name,
        signature=frozen(argument),
        constexprs=frozen({**constexprs, "NUMBER": number}),
        target=Target("cuda", "90"),
        language=Language.CUTE,
    )


def dying(number: int) -> tuple[Case, str]:
    """A case, and how it ends."""
    match number % 10:
        case 0 | 1 | 2 | 3:
            return case("tiled_copy", number, THREADS=96), "SIGABRT"
        case 4 | 5 | 6:
            return case("inline_ptx", number, CONSTRAINTS="=r,=r,r"), "SIGILL"
        case 7 | 8:
            return case("recursion", number), "SIGABRT"
        case _:
            return case("endless", number), "timeout"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_of_two_hundred_a_quarter_dies(newest_cute: Toolchain, traces: Traces) -> None:
    cases: list[tuple[Case, str]] = []
    for number in range(WORKING // 3):
        cases += [
            (case("tiled_copy", number, THREADS=128), "ok"),
            (case("inline_ptx", number, CONSTRAINTS="=r,r"), "ok"),
            dying(number),
            (case("inline_ptx", WORKING + number, CONSTRAINTS="=r,r"), "ok"),
        ]
    limits, action = Limits(TIMEOUT_S, 4 << 30), FullCompile(use_cache=False)
    with Engine() as engine:
        requests = [Request(each, newest_cute, limits, action, tag) for tag, (each, _) in enumerate(cases)]
        attempts = list(engine.run(requests))
    assert sorted(attempt.request.tag for attempt in attempts) == list(range(200))
    wrong: Counter[str] = Counter()
    for attempt in attempts:
        result, expected = attempt.result, cases[attempt.request.tag][1]
        ended = str(result)
        if isinstance(result, Outcome):
            ended = result.signal if result.signal and result.status is Status.CRASH else result.status.value
        if ended != expected:
            wrong[f"{attempt.request.case.name}: {ended} instead of {expected}"] += 1
    assert not wrong
    traces.assert_gone()
