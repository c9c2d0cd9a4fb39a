"""What a reproducer looks for: what names the failure, and nothing that only this run shows."""

from __future__ import annotations

import re

import pytest

from triage.logs.outcomes import diagnose_outcome
from triage.minimize.reproducer import Expected, expected
from triage.model.outcome import Outcome, PythonError, Stage, Status

ASSERTION = "python: /build/lib/Dialect/PlanCTA.cpp:12: void a::b(int): Assertion `!tiled && n > 16' failed.\n"
ERROR = PythonError("NameError", "builtins", 'Cannot access global variable LIMIT; set it to 16 and "x"')
REFERENCE = PythonError("RuntimeError", "builtins", "Unsupported function referenced: <function f at 0x7f62eacb2b60>")
MANGLED = PythonError("KeyError", "builtins", "'lib.ops.depth__Pi32'")
NARROW = PythonError("CompileTimeAssertionFailure", "triton", "at 3:4:\n    ...\n    ^\nthe block is too narrow")
QUOTED = """CompilationError: at 4:4:
    tl.static_assert(BLOCK >= 1, "the block is too narrow")
    tl.store(y_ptr, x)
    ^
{}"""
AXIS = PythonError("CompilationError", "triton", "at 3:4:\n    ...\n    ^\ninvalid axis 2 of this tensor")
UNKNOWN = "ptxas /tmp/tmpab12.ptx, line 46; error   : Unknown modifier '.s33'\n"
PTXAS = "ptxas /tmp/tmpab12.ptx, line 46; error   : Feature '.bf16' requires .target sm_80 or higher\n"


def looked_for(outcome: Outcome) -> Expected:
    diagnosis = diagnose_outcome(outcome)
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
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(MANGLED,)), "KeyError: '__main__.depth__Pi32'", True),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(MANGLED,)), "KeyError: '__main__.other__Pi32'", False),
    (
        Outcome(Status.CRASH, Stage.TTGIR, signal="SIGABRT", log=ASSERTION),
        ASSERTION.replace("n > 16", "n > 32"),
        False,
    ),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(NARROW,)), QUOTED.format("the block is too narrow"), True),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(NARROW,)), QUOTED.format("Value cannot be a block"), False),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(AXIS,)), QUOTED.format("invalid axis 2 of this tensor"), True),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(AXIS,)), QUOTED.format("invalid axis 3 of this tensor"), False),
    (Outcome(Status.ERROR, Stage.CUBIN, log=UNKNOWN), UNKNOWN.replace("46", "7"), True),
    (Outcome(Status.ERROR, Stage.CUBIN, log=UNKNOWN), UNKNOWN.replace("33", "35"), False),
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


STACK = """Fatal Python error: Segmentation fault

Current thread 0x00007f9c5b7fe740 (most recent call first):
  File "/x/triton/backends/nvidia/compiler.py", line 288 in make_llir
  File "/x/triton/compiler/compiler.py", line 300 in compile
"""


def test_a_silent_crash_is_its_signal_and_the_stage_that_it_came_in() -> None:
    wanted = looked_for(Outcome(Status.CRASH, Stage.LLIR, signal="SIGSEGV"))
    assert wanted.signal == "SIGSEGV"
    assert wanted.pattern is not None
    assert re.search(wanted.pattern, STACK)
    assert not re.search(wanted.pattern, STACK.replace("make_llir", "make_ttgir"))
    assert looked_for(Outcome(Status.CRASH, Stage.SOURCE, signal="SIGSEGV")) == Expected(signal="SIGSEGV")


def test_a_timeout_is_its_bound_and_the_start_of_python() -> None:
    assert looked_for(Outcome(Status.TIMEOUT, Stage.TTGIR, limit_s=7.0)) == Expected(timeout_s=12.0)


def test_a_limit_that_triton_reports_is_its_resource() -> None:
    said = "triton.runtime.errors.OutOfResources: out of resource: threads, Required: 2048, Hardware limit: 1024"
    found = looked_for(Outcome(Status.ERROR, Stage.LOAD, log=f"Traceback …\n{said}. Reducing block sizes may help."))
    assert found == Expected(pattern=r"out\s+of\s+resource:\s+threads")


def test_a_limit_of_the_target_is_its_number() -> None:
    outcome = Outcome(Status.ERROR, Stage.LOAD, over_limit="shared memory: 300000 > 232448")
    found = looked_for(outcome)
    assert found.limit == ("shared memory", 232448)
    assert found.pattern is not None
    assert re.search(found.pattern, "out of resource: shared memory, Required: 1, Hardware limit: 0")
