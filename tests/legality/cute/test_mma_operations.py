"""Matrix operations: CuTe DSL makes those, and only those, that have no violation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cute_environment import ask, interpreters, newest
from mma_questions import ARCHITECTURES, questions, scaled_questions

from triage.legality.mma import operations

RECORDED: list[dict[str, Any]] = [
    row
    for name in ("mma_operations.json", "scaled_operations.json")
    for row in json.loads(Path(__file__).with_name(name).read_text())
]
"""Whether CuTe DSL 4.8.1 makes an operation."""


def legal(question: dict[str, Any], arch: str, release: str | None = None) -> bool:
    m, n, k = question["shape"]
    same = ("operation", "a", "b", "d", "a_major", "b_major", "a_from", "cta_group", "scales")
    named = {name: question[name] for name in same if name in question}
    return not operations.violations(**named, m=m, n=n, k=k, target=arch, release=release)


def test_recorded_operations() -> None:
    assert len(RECORDED) >= 200
    assert sum(row["made"] for row in RECORDED) >= 50
    assert [row for row in RECORDED if legal(row["question"], row["arch"]) != row["made"]] == []


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_operations_as_cute_makes_them(arch: str) -> None:
    asked = list(questions(arch, 400))
    answers = ask(newest(), asked, arch)
    pairs = zip(asked, answers, strict=True)
    assert [pair for pair in pairs if legal(pair[0], arch) != ("error" not in pair[1])] == []


@pytest.mark.slow
@pytest.mark.parametrize("release", ["4.3.5", "4.5.3", "4.8.1"])
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a", "sm_103a", "sm_120a"])
def test_scaled_and_sparse_operations_by_release(arch: str, release: str) -> None:
    python = interpreters().get(f"{release}-py3.11")
    if python is None:
        pytest.skip(f"no environment with CuTe DSL {release}")
    asked = [each for each in scaled_questions(arch, 200) if each["operation"] in operations.OPERATIONS]
    pairs = zip(asked, ask(python, asked, arch), strict=True)
    assert [pair for pair in pairs if legal(pair[0], arch, release) != ("error" not in pair[1])] == []


@pytest.mark.parametrize(
    ("release", "m", "group", "n", "made"),
    [
        ("4.2.1", 128, 1, 24, False),
        ("4.2.1", 64, 1, 24, True),
        ("4.2.1", 256, 2, 48, False),
        ("4.3.5", 128, 1, 24, True),
        ("4.3.5", 256, 2, 48, True),
        (None, 128, 1, 24, True),
        (None, 128, 1, 20, False),
        (None, 256, 2, 24, False),
    ],
)
def test_steps_of_n_by_release(release: str | None, m: int, group: int, n: int, made: bool) -> None:
    broken = operations.violations(
        operation="tcgen05.MmaF16BF16Op", a="f16", m=m, n=n, cta_group=group, target="sm_100a", release=release
    )
    assert (broken == []) == made


def test_what_only_the_instruction_refuses() -> None:
    asked = {"operation": "warpgroup.MmaF8Op", "a": "e4m3", "b_major": "mn", "m": 64, "n": 64, "target": "sm_90a"}
    assert operations.violations(**asked) == []
    assert [violation.rule for violation in operations.instruction_violations(**asked)] == ["wgmma.b-major"]
