"""Programs that compile with CuTe DSL, under ``triage run`` and its guard: what is captured compiles to the same
failure, and what kills the compiler does not end the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running import Bench

from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.compilers import CUTE
from triage.model.outcome import Status
from triage.pipeline import Options, Session

PROGRAM = "cute_compiles.py"
BUILDS = ["object", "computed", "recomputed", "copies:64", "copies:64"]
RAISES = ["early", "misaligned"]
OLDER = ("4.0.0", "4.1.0", "4.2.1", "4.3.5", "4.4.2", "4.5.3", "4.6.3", "4.7.1")
WITHOUT_DRIVER = ("4.0.0", "4.1.0", "4.2.1", "4.3.5", "4.4.2")
"""Releases whose ``cute.compile`` asks for a driver once the kernel is compiled."""
BenchOf = Callable[[str], Bench]


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory, newest_cute: Toolchain) -> tuple[Bench, Any]:
    """A run of all that the program does, in which every case is kept, and its document."""
    bench = Bench(tmp_path_factory.mktemp("cute"), newest_cute.python)
    arguments = [*BUILDS, *RAISES, "called", "aborts"]
    return bench, bench.document(PROGRAM, *arguments, options=("--keep-all",))


def test_a_run_counts_each_configuration_once(captured: tuple[Bench, Any]) -> None:
    _, document = captured
    assert (document["compiled"], document["failed"], document["notes"]) == (4, 3, [])
    assert (document["exit_code"], document["signal"]) == (134, "SIGABRT")


def test_failures_are_triaged_as_they_were_in_the_program(captured: tuple[Bench, Any]) -> None:
    early, misaligned, aborts = captured[1]["findings"]
    assert [len(finding["captured"]) for finding in (early, misaligned, aborts)] == [2, 1, 1]
    assert "UNSUP_EARLY_EXIT" in early["captured"][1]["error"], (
        "a host function that is called, as one that is compiled"
    )
    outcomes = [finding["report"]["outcome"] for finding in (early, misaligned, aborts)]
    assert [(one["status"], one["stage"]) for one in outcomes] == [
        ("error", "trace"),
        ("error", "verify"),
        ("crash", "trace"),
    ]
    assert (outcomes[2]["signal"], aborts["captured"][0]["state"]) == ("SIGABRT", "died")
    lines = [finding["report"]["diagnosis"]["source"]["text"].strip() for finding in (early, misaligned, aborts)]
    assert lines == ["return", *["cute.copy(copy, own.partition_S(a), own.partition_D(tile))"] * 2]


def test_arguments_are_what_the_compiler_saw(captured: tuple[Bench, Any]) -> None:
    by_kernel = {(case.name, str(case.constexprs)): case for case in captured[0].cases()}
    filled, computed = by_kernel[("Fill", "{}")], by_kernel[("ComputedAsConstructed", "{}")]
    types = ("tensor<f16, (?{8},64):(64,1), align=16>", "ptr<f32, align=32>", "(i32, i64)", "stream")
    assert (
        dict(filled.signature)
        == dict(computed.signature)
        == dict(zip(("a", "where", "pair", "stream"), types, strict=True))
    )
    assert dict(filled.construct) == {"dtype": "cutlass.Float16", "values": [4, 8]}
    assert (dict(filled.options), dict(computed.options)) == ({"opt_level": 2}, {})
    assert by_kernel[("early", "{}")].signature["n"] == "i64"
    assert by_kernel[("load", "{'threads': 64}")].signature["a"].startswith("tensor<f16, (128,64):(64,1), align=")


def test_cases_of_what_compiled_compile(captured: tuple[Bench, Any], newest_cute: Toolchain) -> None:
    good = [case for case in captured[0].cases() if _ended(case) == "compiled"]
    assert _statuses(good, newest_cute) == [Status.OK] * len(BUILDS)


@pytest.mark.slow
def test_the_guard_keeps_a_program_alive(tmp_path: Path, newest_cute: Toolchain) -> None:
    done = Bench(tmp_path, newest_cute.python).run(
        PROGRAM, "aborts", "copies:64", "aborts", "early", options=("--guard",)
    )
    assert done.code == 0, done.err
    refused, compiled, again, raised = done.out.splitlines()
    assert refused.startswith(
        "aborts CompileFailed triage: load [threads=96] for cuda:100 kills the compiler (SIGABRT)"
    )
    assert (compiled, again) == ("copies:64 compiled", refused)
    assert raised.startswith("early DSLUserCodeError")
    assert "the guard kept 1 configuration from ending the program; 1 compile not repeated" in done.err
    assert done.err.splitlines()[-1] == "triage: 1 kernel compiled, 2 failed"


@pytest.mark.slow
@pytest.mark.parametrize("version", OLDER)
def test_older_releases(tmp_path: Path, version: str, toolchains: Toolchains) -> None:
    toolchain = toolchains.managed(version, CUTE)
    bench = Bench(tmp_path, toolchain.python)
    plain = ["plain"] if version == "4.0.0" else []
    document = bench.document(PROGRAM, *plain, *BUILDS, *RAISES, "aborts", options=("--keep-all",))
    assert (document["compiled"], document["failed"], document["notes"]) == (4, 3, [])
    assert len(document["notices"]) == (version in WITHOUT_DRIVER)
    reports = [finding["report"]["outcome"] for finding in document["findings"]]
    stages = [(outcome["status"], outcome["stage"]) for outcome in reports]
    assert stages == [("error", "trace"), ("error", "verify"), ("crash", "trace")]
    good = [case for case in bench.cases() if _ended(case) == "compiled"]
    assert _statuses(good, toolchain) == [Status.OK] * len(BUILDS)


def _ended(case: Case) -> str:
    ended = case.folder / "ended.json"
    return "compiled" if ended.exists() and '"how": "compiled"' in ended.read_text() else "failed"


def _statuses(cases: list[Case], toolchain: Toolchain) -> list[Status]:
    with Session(Options(python=str(toolchain.python), suggest=False, jobs=2)) as session:
        answers = list(session.check_all(cases))
    return [answer.outcome.status for answer in answers if not isinstance(answer, Exception)]
