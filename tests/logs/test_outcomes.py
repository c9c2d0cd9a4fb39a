"""What the harness knows, together with what was printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from triage.logs.outcomes import diagnose_outcome
from triage.model.diagnosis import Kind
from triage.model.outcome import BeyondShared, Frame, Outcome, PythonError, Stage, Status

ASSERTION = "python: /b/Dialect.cpp:12: int A::f(int) const: Assertion `x >= 1' failed.\n"
VERIFIER = "/home/u/kernel.py:2:5: error: 'scf.condition' op operand #0 must be i1\n    while x:\n    ^\n"
RUN_FAILED = PythonError("RuntimeError", "builtins", "PassManager::run failed")
PARSING = PythonError("RuntimeError", "builtins", "error encountered during parsing")
COMPILATION = PythonError("CompilationError", "triton.compiler.errors", "")
VALUE = PythonError("ValueError", "builtins", "atomic_or does not support int8")

BEYOND = BeyondShared(
    Stage.CUBIN, "STS.128", address=31504, bytes=16, size=9216, thread=47, accesses=128, file="k.py", line=10
)
OUTCOMES = [
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(COMPILATION, VALUE)), Kind.FRONTEND_ERROR),
    (Outcome(Status.ERROR, Stage.LLIR, errors=(VALUE,)), Kind.PYTHON_EXCEPTION),
    (Outcome(Status.ERROR, Stage.LLIR, errors=(RUN_FAILED,)), Kind.MLIR_DIAGNOSTIC),
    (Outcome(Status.ERROR, Stage.LLIR, errors=(RUN_FAILED,), log=ASSERTION), Kind.ASSERTION),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(COMPILATION,), log=ASSERTION), Kind.ASSERTION),
    (Outcome(Status.ERROR, Stage.SOURCE, errors=(PARSING,), log=VERIFIER), Kind.MLIR_DIAGNOSTIC),
    (Outcome(Status.CRASH, Stage.LLIR, signal="SIGABRT", log=ASSERTION), Kind.ASSERTION),
    (Outcome(Status.CRASH, Stage.LLIR, signal="SIGSEGV"), Kind.SEGFAULT),
    (Outcome(Status.CRASH, Stage.LLIR, signal="SIGSEGV", log=VERIFIER), Kind.MLIR_DIAGNOSTIC),
    (Outcome(Status.CRASH, Stage.LLIR, signal="SIGABRT"), Kind.ABORT),
    (Outcome(Status.CRASH, Stage.LLIR, signal="SIGKILL"), Kind.KILLED),
    (Outcome(Status.CRASH, Stage.PTX, exit_code=1, log="error: couldn't allocate x\n"), Kind.LLVM_DIAGNOSTIC),
    (Outcome(Status.CRASH, Stage.PTX, exit_code=1, log="error: operand of a new kind\n"), Kind.LLVM_DIAGNOSTIC),
    (Outcome(Status.CRASH, Stage.PTX, exit_code=1), Kind.UNKNOWN),
    (Outcome(Status.SUSPECT, Stage.PTX, log="error: couldn't allocate x\n"), Kind.LLVM_DIAGNOSTIC),
    (Outcome(Status.SUSPECT, Stage.CUBIN, beyond_shared=BEYOND, log=ASSERTION), Kind.PTXAS),
    (Outcome(Status.SUSPECT, Stage.PTX, beyond_shared=replace(BEYOND, stage=Stage.PTX)), Kind.LAUNCH_ERROR),
    (Outcome(Status.TIMEOUT, Stage.LLIR, limit_s=60, log=ASSERTION), Kind.TIMEOUT),
    (Outcome(Status.OUT_OF_MEMORY, Stage.LLIR, limit_bytes=2**33), Kind.OUT_OF_MEMORY),
    (Outcome(Status.CRASH, Stage.LLIR, signal="SIGTERM", killed_from_outside=True, log=ASSERTION), Kind.KILLED),
    (Outcome(Status.ERROR, Stage.LOAD, over_limit="shared memory: 524288 > 232448 bytes"), Kind.OUT_OF_RESOURCES),
    (
        Outcome(Status.ERROR, Stage.CUBIN, errors=(PythonError("PTXASError", "t", "ptxas fatal   : bad"),)),
        Kind.PTXAS,
    ),
]


@pytest.mark.parametrize(("outcome", "kind"), OUTCOMES)
def test_kind(outcome: Outcome, kind: Kind) -> None:
    diagnosis = diagnose_outcome(outcome)
    assert diagnosis is not None
    assert diagnosis.kind is kind
    assert diagnosis.stage == (outcome.stage.value if outcome.stage else None)
    assert diagnosis.signature.startswith(f"v2|{kind.value}")


def test_every_access_beyond_the_shared_memory_is_one_bug() -> None:
    other = replace(BEYOND, instruction="LDSM.16.MT88.4", address=70000, size=17408, thread=63, line=None, accesses=1)
    found = [diagnose_outcome(Outcome(Status.SUSPECT, Stage.CUBIN, beyond_shared=each)) for each in (BEYOND, other)]
    writes, reads = (each for each in found if each is not None)
    assert writes.signature == reads.signature
    assert writes.headline == "The binary writes 16 B at shared address 31,504, and a block has 9,216 B"
    assert reads.headline == "The binary reads 16 B at shared address 70,000, and a block has 17,408 B"
    earlier = diagnose_outcome(Outcome(Status.SUSPECT, Stage.PTX, beyond_shared=replace(BEYOND, stage=Stage.PTX)))
    assert earlier is not None
    assert earlier.headline == "The PTX writes 16 B at shared address 31,504, and a block has 9,216 B"
    assert earlier.signature != writes.signature
    assert writes.source is not None
    assert (writes.source.file, writes.source.line, reads.source) == ("k.py", 10, None)


def test_a_compile_that_worked_has_no_diagnosis() -> None:
    assert diagnose_outcome(Outcome(Status.OK, log=ASSERTION)) is None


def test_the_numbers_of_an_exceeded_limit() -> None:
    diagnosis = diagnose_outcome(Outcome(Status.ERROR, over_limit="shared memory: 524288 > 232448 bytes"))
    assert diagnosis is not None
    assert (diagnosis.resource, diagnosis.required, diagnosis.limit) == ("shared memory", 524288, 232448)


def test_the_observed_pass_is_preferred() -> None:
    log = ASSERTION + "k.py:1:0: note: Pipeline failed while executing [`A` on 'builtin.module' operation]: r\n"
    outcome = Outcome(Status.ERROR, Stage.LLIR, errors=(RUN_FAILED,), log=log)
    without = diagnose_outcome(outcome)
    observed = diagnose_outcome(replace(outcome, pass_name="convert-a"))
    assert without is not None and without.pass_name == "A"
    assert observed is not None and observed.pass_name == "convert-a"


def test_a_crash_without_words_is_in_the_pass_dumped_last() -> None:
    log = "// -----// IR Dump Before Coalesce (tritongpu-coalesce) ('builtin.module' operation) //----- //\n"
    for status, signal in ((Status.CRASH, "SIGSEGV"), (Status.TIMEOUT, None)):
        diagnosis = diagnose_outcome(Outcome(status, Stage.TTGIR, signal=signal, log=log))
        assert diagnosis is not None
        assert diagnosis.pass_name == "tritongpu-coalesce"


def test_the_users_line_is_read_from_the_kernel(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text("def k():\n    while x:\n        pass\n")
    diagnosis = diagnose_outcome(Outcome(Status.ERROR, Stage.SOURCE, errors=(PARSING,), log=VERIFIER), kernel)
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line, diagnosis.source.text) == ("kernel.py", 2, "    while x:")
    assert diagnosis.exception == "RuntimeError"


def test_the_front_ends_place_is_the_innermost_of_the_users(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.py"
    kernel.write_text("def k():\n    tl.sum(x)\n")
    library = Frame("/s/site-packages/triton/language/standard.py", 256, "sum", "    return a + b")
    users = Frame(str(kernel), 2, "k", "    tl.sum(x)")
    chain = (
        replace(COMPILATION, kernel_line=users, kernel_column=4),
        replace(COMPILATION, kernel_line=library, kernel_column=11),
        PythonError("TypeError", "builtins", "unexpected type fp8e5 and fp8e5"),
    )
    diagnosis = diagnose_outcome(Outcome(Status.ERROR, Stage.SOURCE, errors=chain), kernel)
    assert diagnosis is not None and diagnosis.source is not None
    assert diagnosis.headline == "TypeError: unexpected type fp8e5 and fp8e5"
    assert diagnosis.exception == "CompilationError"
    assert (diagnosis.source.file, diagnosis.source.line, diagnosis.source.column) == ("kernel.py", 2, 5)
