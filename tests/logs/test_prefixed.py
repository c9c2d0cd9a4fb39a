"""Failures behind prefixes that no list has."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_any, diagnose_text
from triage.logs.prefixed import behind_prefix
from triage.logs.scan import read, readers
from triage.logs.window import Window
from triage.model.diagnosis import Kind

ABOUT = "My triton.jit kernel:\n"
STATED = {
    "out of resource: shared memory, Required: 131072, Hardware limit: 101376": Kind.OUT_OF_RESOURCES,
    "RuntimeError: Triton Error [CUDA]: an illegal memory access was encountered": Kind.LAUNCH_ERROR,
    "LLVM ERROR: Cannot select: intrinsic %llvm.nvvm.mma.x": Kind.LLVM_FATAL,
    "AttributeError: module 'triton' has no attribute 'gather'": Kind.PYTHON_EXCEPTION,
    "k.py:3:4: error: 'tt.dot' op bad": Kind.MLIR_DIAGNOSTIC,
}
PREFIXES = (
    "      ",
    "      caught ",
    "# ",
    "    # ",
    "0: ",
    "step-7/3 [rank4] ",
    "[svc-a|w1] stderr> ",
    "case_12 -> ",
    "2nd try: ",
)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_failure_is_read_behind_any_prefix(prefix: str) -> None:
    for stated, kind in STATED.items():
        if prefix.endswith("caught ") and not stated.partition(":")[0].endswith("Error"):
            continue  # people catch exceptions
        alone, diagnosis = diagnose_text(ABOUT + stated), diagnose_text(f"{ABOUT}{prefix}{stated}")
        assert alone is not None
        assert diagnosis is not None, stated
        assert (diagnosis.kind, diagnosis.signature) == (kind, alone.signature)


@pytest.mark.parametrize(
    "line",
    [
        "tool: warning: RuntimeError: Triton Error [CUDA] not reached",
        "    raise RuntimeError('x: ValueError: not reached')",
        "w1: note: k.py:3:4: error: 'tt.dot' op bad",
    ],
)
def test_what_is_no_failure_is_none_behind_a_prefix(line: str) -> None:
    assert behind_prefix(Window(0, line, (), (), readers(line) or ())) is None


def test_what_stands_at_the_start_of_a_line_precedes() -> None:
    diagnosis = diagnose_any(f"{ABOUT}w1> ValueError: one\nw1: x\nValueError: two\n")
    assert diagnosis is not None
    assert diagnosis.headline.endswith("two")


def test_a_reason_behind_a_prefix_precedes_what_only_says_that_something_failed() -> None:
    diagnosis = diagnose_text(
        f"{ABOUT}step 3 -> k.py:3:4: error: 'tt.dot' op bad\nRuntimeError: PassManager::run failed\n"
    )
    assert diagnosis is not None
    assert diagnosis.headline == "'tt.dot' op bad"


def test_the_output_of_a_compile_has_no_prefixes() -> None:
    pasted, printed = (read(f"{ABOUT}w1> ValueError: one\n", captured=captured).findings for captured in (True, False))
    assert [finding.diagnosis.exception for finding in pasted] == ["ValueError"]
    assert "ValueError" not in [finding.diagnosis.exception for finding in printed]


def test_the_name_of_an_exception_alone_hides_no_text_of_one() -> None:
    diagnosis = diagnose_text(
        "The scale is overwritten:\n```python\n# the kernel needs a number -> DSLRuntimeError\n```\n"
        "It says `DSLRuntimeError: argument expects Int32 but got NoneType`.\n"
    )
    assert diagnosis is not None
    assert diagnosis.headline == "argument expects Int32 but got NoneType"


def test_a_sentence_that_quotes_an_exception_names_its_wrapper() -> None:
    diagnosis = diagnose_text(
        "torch.compile of a triton kernel:\nIt says `LoweringException: RuntimeError: no scan`.\n"
    )
    assert diagnosis is not None
    assert (diagnosis.exception, diagnosis.headline) == (
        "LoweringException",
        "LoweringException: RuntimeError: no scan",
    )


def test_a_class_that_a_function_defines() -> None:
    diagnosis = diagnose_text(
        "# [Bug] 3 tests fail cutlass._mlir._init.<locals>.MLIRError: Unable to parse attribute:\n"
    )
    assert diagnosis is not None
    assert diagnosis.headline == "MLIRError: Unable to parse attribute:"


def test_a_title_quotes_what_was_raised_around_below() -> None:
    diagnosis = diagnose_text(
        "# `torch.compile` fails with `NotImplementedError: Unsupported for now.` in attention\n\n```\n"
        "torch._inductor.exc.InductorError: LoweringException: NotImplementedError: Unsupported for now.\n"
        "  target: attention\n```\nIt is Inductor's, of triton 3.3.\n"
    )
    assert diagnosis is not None
    assert diagnosis.exception == "LoweringException"
