"""What the harness knows of a compile with CuTe DSL, together with what was printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.logs.outcomes import diagnose_outcome
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.outcome import Frame, Outcome, PythonError, Stage, Status

KERNEL = """import cutlass
import cutlass.cute as cute


@cute.kernel
def k(a: cute.Tensor, n: cutlass.Int32):
    for i in cutlass.range(n):
        # The first that is positive.
        if a[i] == "x":
            break
        a[i] = 1.0


@cute.jit
def host(a: cute.Tensor, n: cutlass.Int32):
    k(a, n).launch(grid=(1, 1, 1), block=(128, 1, 1))
"""
DSL = "/venv/lib/python3.12/site-packages/nvidia_cutlass_dsl/dsl_packages/cutlass"
WORKER = "/venv/lib/python3.12/site-packages/triage/harness/worker/cute"


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL)
    return path


def frames(kernel: Path, *others: str) -> tuple[Frame, ...]:
    return (
        Frame(f"{WORKER}/compiler.py", 80, "compile", "cute.compile(host, *arguments)"),
        Frame(str(kernel), 16, "host", "k(a, n).launch(grid=(1, 1, 1), block=(128, 1, 1))"),
        *(Frame(file, 9, "inner", "raise error") for file in others),
    )


def diagnosed(outcome: Outcome, kernel: Path) -> Diagnosis:
    diagnosis = diagnose_outcome(outcome, kernel)
    assert diagnosis is not None
    assert diagnosis.compiler is CUTE
    return diagnosis


def line_of(diagnosis: Diagnosis) -> int | None:
    return diagnosis.source.line if diagnosis.source else None


@pytest.mark.parametrize(("stage", "kind"), [(Stage.TRACE, Kind.FRONTEND_ERROR), (Stage.PASSES, Kind.PYTHON_EXCEPTION)])
def test_what_is_raised_as_a_kernel_is_traced_is_the_front_ends(kernel: Path, stage: Stage, kind: Kind) -> None:
    error = PythonError(
        "ValueError", "builtins", "shape and stride must be congruent", frames(kernel, f"{DSL}/cute/core.py")
    )
    diagnosis = diagnosed(Outcome(Status.ERROR, stage, errors=(error,)), kernel)
    assert (diagnosis.kind, diagnosis.stage, line_of(diagnosis)) == (kind, stage.value, 16)


def test_the_innermost_error_that_went_through_the_kernel_tells_the_line(kernel: Path) -> None:
    inner = PythonError("TypeError", "builtins", "bad", (Frame(str(kernel), 11, "k", "a[i] = 1.0"),))
    outer = PythonError(
        "DSLRuntimeError",
        "cutlass.base_dsl.common",
        "DSLRuntimeError: \U0001f4a5 Error during runtime code generation for function `host` \U0001f4a5",
        frames(kernel),
    )
    diagnosis = diagnosed(Outcome(Status.ERROR, Stage.TRACE, errors=(outer, inner)), kernel)
    assert (diagnosis.headline, diagnosis.exception, line_of(diagnosis)) == ("TypeError: bad", "DSLRuntimeError", 11)


def test_a_line_of_the_worker_is_not_the_users(kernel: Path) -> None:
    report = (
        "\nerror[LAUNCH_INVALID_CLUSTER]: Launch cluster must have exactly 3 dimensions.\n\n"
        f"  --> {WORKER}/stages.py:89:14\n   |\n89 |     result = original(config, *rest)\n   |              ^^^^^\n"
    )
    through = frames(kernel, f"{WORKER}/stages.py", f"{DSL}/base_dsl/dsl.py")
    error = PythonError("DSLUserCodeError", "cutlass.base_dsl.common", report, through)
    diagnosis = diagnosed(Outcome(Status.ERROR, Stage.TRACE, errors=(error,)), kernel)
    assert (diagnosis.source and diagnosis.source.file, line_of(diagnosis)) == ("kernel.py", 16)
    outside = PythonError("DSLUserCodeError", "cutlass.base_dsl.common", report, through[:1])
    assert diagnosed(Outcome(Status.ERROR, Stage.TRACE, errors=(outside,)), kernel).source is None


def test_a_snippet_without_a_line_is_searched_in_the_file(kernel: Path) -> None:
    message = (
        "DSLAstPreprocessorError: Early exit (break) is not allowed in `k`\n  File: kernel.py\n  Snippet: \n"
        " for i in cutlass.range(n):\n    if a[i] == 'x':\n        break\n    a[i] = 1.0\n\U0001f4a1 Suggestions:\n x"
    )
    error = PythonError("DSLAstPreprocessorError", "cutlass.base_dsl.common", message, frames(kernel))
    outcome = Outcome(Status.ERROR, Stage.TRACE, errors=(error,))
    assert line_of(diagnosed(outcome, kernel)) == 10
    other = message.replace("Early exit (break) is not allowed in `k`", "dynamic for loop with else is not supported")
    error = PythonError("DSLAstPreprocessorError", "cutlass.base_dsl.common", other, frames(kernel))
    assert line_of(diagnosed(Outcome(Status.ERROR, Stage.TRACE, errors=(error,)), kernel)) == 7
    kernel.write_text(KERNEL + KERNEL)  # which of the two it is, nobody knows
    assert line_of(diagnosed(outcome, kernel)) == 16


def test_the_stack_of_a_process_that_died(kernel: Path) -> None:
    log = (
        "Fatal Python error: Aborted\n\nCurrent thread 0x00007f (most recent call first):\n"
        f'  File "{DSL}/_mlir/dialects/_cute_ops_gen.py", line 7556 in __init__\n'
        f'  File "{DSL}/_mlir/dialects/_cute_ops_gen.py", line 7591 in tiled_copy_partition_D\n'
        f'  File "{kernel}", line 11 in k\n'
        f'  File "{WORKER}/compiler.py", line 80 in compile\n'
    )
    diagnosis = diagnosed(Outcome(Status.CRASH, Stage.TRACE, signal="SIGABRT", log=log), kernel)
    assert (diagnosis.kind, diagnosis.function, line_of(diagnosis)) == (Kind.ABORT, "tiled_copy_partition_D", 11)
    assert diagnosis.signature == "v2|abort|tiled_copy_partition_D"
    assert "worker" not in diagnosis.message
    # The signal that the harness saw counts: another one has no stack.
    other = diagnosed(Outcome(Status.CRASH, Stage.TRACE, signal="SIGSEGV", log=log), kernel)
    assert (other.kind, other.function) == (Kind.SEGFAULT, None)
