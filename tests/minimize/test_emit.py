"""What a reproducer looks for: what names the failure, and nothing that only this run shows."""

from __future__ import annotations

import re

import pytest

from triage import logs
from triage.minimize.emit import Expected, expected
from triage.outcome import Outcome, PythonError, Stage, Status

ASSERTION = "python: /build/lib/Dialect/PlanCTA.cpp:12: void a::b(int): Assertion `!tiled && n > 16' failed.\n"
ERROR = PythonError("NameError", "builtins", 'Cannot access global variable LIMIT; set it to 16 and "x"')
REFERENCE = PythonError("RuntimeError", "builtins", "Unsupported function referenced: <function f at 0x7f62eacb2b60>")
PTXAS = "ptxas /tmp/tmpab12.ptx, line 46; error   : Feature '.bf16' requires .target sm_80 or higher\n"


def looked_for(outcome: Outcome) -> Expected:
    diagnosis = logs.diagnose_outcome(outcome)
    assert diagnosis is not None
    return expected(diagnosis, outcome)


FOUND = [
    (Outcome(Status.CRASH, Stage.TTGIR, signal="SIGABRT", log=ASSERTION), ASSERTION.replace("12", "345"), True),
    (Outcome(Status.CRASH, Stage.TTGIR, signal="SIGABRT", log=ASSERTION), ASSERTION.replace("tiled", "other"), False),
    (Outcome(Status.CRASH, Stage.TTGIR, signal="SIGABRT", log=ASSERTION), ASSERTION.replace("Plan", "Other"), False),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(ERROR,)), f"NameError({ERROR.message!r})", True),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(ERROR,)), "NameError: y is not defined", False),
    (
        Outcome(Status.ERROR, Stage.SOURCE, errors=(REFERENCE,)),
        "RuntimeError: Unsupported function referenced: <function f at 0x7f1a9702ccc0>",
        True,
    ),
    (Outcome(Status.ERROR, Stage.CUBIN, log=PTXAS), PTXAS.replace("tmpab12", "tmpzz99"), True),
    (Outcome(Status.ERROR, Stage.CUBIN, log=PTXAS), "ptxas fatal   : Ptx assembly aborted due to errors", False),
]


@pytest.mark.parametrize(("outcome", "said", "there"), FOUND)
def test_texts(outcome: Outcome, said: str, there: bool) -> None:
    pattern = looked_for(outcome).pattern
    assert pattern is not None
    assert bool(re.search(pattern, said)) is there


def test_a_long_log_without_it_is_read_in_no_time() -> None:
    pattern = looked_for(FOUND[0][0]).pattern
    assert pattern is not None
    assert re.search(pattern, "a line of the compiler's own\n" * 100_000) is None


def test_a_silent_crash_is_its_signal() -> None:
    assert looked_for(Outcome(Status.CRASH, Stage.LLIR, signal="SIGSEGV")) == Expected(signal="SIGSEGV")


def test_a_timeout_is_its_bound_and_the_start_of_python() -> None:
    assert looked_for(Outcome(Status.TIMEOUT, Stage.TTGIR, limit_s=7.0)) == Expected(timeout_s=12.0)


def test_a_limit_of_the_target_is_its_number() -> None:
    outcome = Outcome(Status.ERROR, Stage.LOAD, over_limit="shared memory: 300000 > 232448")
    found = looked_for(outcome)
    assert found.limit == ("shared memory", 232448)
    assert found.pattern is not None
    assert re.search(found.pattern, "out of resource: shared memory, Required: 1, Hardware limit: 0")
