"""What one outcome is in the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from triage.logs.outcomes import diagnose_outcome
from triage.matrix.cell import CellVerdict, MatrixCell, judge
from triage.model.case import Case, frozen
from triage.model.outcome import Outcome, PythonError, Stage, Status, Undecided

SOURCE = """\
import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x


class Own:
    def __init__(self):
        pass


@triton.jit
def kernel(x_ptr):
    tl.store(x_ptr, helper(x=0.0, y=1.0))
"""
ASSERTION = 'python: /src/Pass.cpp:5: void A::f(): Assertion `ok && "no such shape"\' failed.\n'


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "kernel.py").write_text(SOURCE)
    return Case(tmp_path, "kernel.py", "kernel", frozen({"x_ptr": "*fp32"}))


def raised(type_: str, message: str) -> Outcome:
    return Outcome(
        Status.ERROR,
        Stage.SOURCE,
        exit_code=1,
        errors=(
            PythonError("CompilationError", "triton.compiler.errors", f"at 3:5:\n{message}"),
            PythonError(type_, "builtins", message),
        ),
    )


def judged(case: Case, result: Outcome | Undecided) -> MatrixCell:
    diagnosis = None if isinstance(result, Undecided) else diagnose_outcome(result, case.path)
    return judge(case, "3.2.0", result, diagnosis)


CRASH = Outcome(Status.CRASH, Stage.LLIR, signal="SIGABRT", log=ASSERTION)


@pytest.mark.parametrize(
    ("result", "verdict"),
    [
        (Outcome(Status.OK), CellVerdict.COMPILES),
        (CRASH, CellVerdict.FAILS),
        (Outcome(Status.SUSPECT, Stage.PTX, log="error: couldn't allocate output register\n"), CellVerdict.SUSPECT),
        (Outcome(Status.TIMEOUT, Stage.TTGIR, limit_s=2), CellVerdict.TIMEOUT),
        (Outcome(Status.OUT_OF_MEMORY, Stage.LLIR, limit_bytes=1 << 30), CellVerdict.FAILS),
        (replace(CRASH, log="", signal="SIGKILL", killed_from_outside=True), CellVerdict.UNDECIDED),
        (Undecided("no disk"), CellVerdict.UNDECIDED),
    ],
)
def test_verdicts(case: Case, result: Outcome | Undecided, verdict: CellVerdict) -> None:
    cell = judged(case, result)
    assert cell.verdict is verdict
    assert verdict.bad == (cell.signature is not None) == (cell.headline is not None)


@pytest.mark.parametrize(
    ("type_", "message", "verdict"),
    [
        ("AttributeError", "module 'triton.language' has no attribute 'gather'", CellVerdict.NOT_APPLICABLE),
        ("ModuleNotFoundError", "No module named 'triton.experimental'", CellVerdict.NOT_APPLICABLE),
        ("ImportError", "cannot import name 'gluon' from 'triton.experimental' (…)", CellVerdict.NOT_APPLICABLE),
        ("TypeError", "range.__init__() got an unexpected keyword argument 'flatten'", CellVerdict.NOT_APPLICABLE),
        ("TypeError", "__init__() got an unexpected keyword argument 'flatten'", CellVerdict.NOT_APPLICABLE),
        # The user's own function: no release will ever take it.
        ("TypeError", "helper() got an unexpected keyword argument 'y'", CellVerdict.FAILS),
        ("TypeError", "Own.__init__() got an unexpected keyword argument 'y'", CellVerdict.FAILS),
        ("ModuleNotFoundError", "No module named 'torch'", CellVerdict.FAILS),
        ("NameError", "nowhere is not defined", CellVerdict.FAILS),
    ],
)
def test_an_api_that_is_not_there_is_no_failure(case: Case, type_: str, message: str, verdict: CellVerdict) -> None:
    cell = judged(case, raised(type_, message))
    assert cell.verdict is verdict
    if verdict is CellVerdict.NOT_APPLICABLE:
        assert cell.reason == message


def test_how_far_a_timeout_came_makes_no_other_bug_of_it(case: Case) -> None:
    cells = [judged(case, Outcome(Status.TIMEOUT, stage, limit_s=2)) for stage in (Stage.TTGIR, Stage.LLIR)]
    assert cells[0].signature == cells[1].signature == "timeout"


def test_a_document_leaves_out_what_does_not_apply() -> None:
    assert MatrixCell(CellVerdict.UNDECIDED, reason="no disk").to_json() == {
        "verdict": "could not tell",
        "reason": "no disk",
        "cached": False,
    }
