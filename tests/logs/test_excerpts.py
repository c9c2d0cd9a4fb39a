"""Reports of the front end as people shorten them: its name, lines of the kernel or the caret may be missing."""

from __future__ import annotations

import pytest

from triage.logs import diagnose_text
from triage.model.diagnosis import Diagnosis, Kind

KERNEL = ["def scale(x_ptr, n, SIZE: tl.constexpr):", "    v = tl.load(x_ptr + tl.arange(0, SIZE))"]
CARET = "                        ^"
REASON = "arange's range must be a power of 2"
RAISED = f"ValueError({REASON!r})"


def diagnosed(*lines: str) -> Diagnosis:
    diagnosis = diagnose_text("\n".join(["With triton 3.4 I get", "", *lines, "", "Any idea?", ""]))
    assert diagnosis is not None
    return diagnosis


@pytest.mark.parametrize(
    "begins",
    [
        "at 7:24:",
        "Error running job: at 7:24:",
        "2026-05-06 11:03:10,805 - root - ERROR - at 7:24:",
        "RuntimeError: at 7:24:",
        "!!! Exception during processing !!! at 7:24:",
        "**got at 7:24:**",
    ],
)
def test_a_position_in_a_kernel_without_the_exception_s_name(begins: str) -> None:
    diagnosis = diagnosed(begins, *KERNEL, CARET, RAISED)
    assert (diagnosis.kind, diagnosis.headline) == (Kind.FRONTEND_ERROR, f"ValueError: {REASON}")
    assert diagnosis.source is not None and (diagnosis.source.line, diagnosis.source.column) == (7, 25)


def test_a_position_above_another_language_is_none_of_a_kernel() -> None:
    text = "config error: at 7:24:\n    name: [a, b\n            ^\nexpected ']'\n"
    assert diagnose_text(text) is None


@pytest.mark.parametrize(
    "below",
    [
        [*KERNEL, RAISED],
        [*KERNEL[1:], RAISED],
        [*KERNEL, CARET, "", RAISED],
        [*KERNEL, CARET, "", REASON],
        [*KERNEL, REASON],
        [*KERNEL, "ValueError(\"arange's range must be", 'a power of 2")'],
    ],
    ids=["no caret", "one line", "empty line", "empty line, no name", "no caret, no name", "wrapped"],
)
def test_the_reason_below_a_shortened_excerpt(below: list[str]) -> None:
    diagnosis = diagnosed("triton.compiler.errors.CompilationError: at 7:24:", *below)
    assert "range must be a power of 2" in diagnosis.headline
    assert diagnosis.source is not None and diagnosis.source.line == 7


def test_the_reason_that_a_title_states() -> None:
    title = "# Slicing in my kernel fails: 'constexpr_type' object has no attribute 'is_block'"
    diagnosis = diagnosed(
        title, "triton.compiler.errors.CompilationError: at 7:24:", *KERNEL, CARET, "", "### Versions"
    )
    assert diagnosis.headline == "'constexpr_type' object has no attribute 'is_block'"
    assert diagnosis.source is not None and diagnosis.source.line == 7


@pytest.mark.parametrize("head", ["CompilationError: ", "Smoke test failed: ", ""])
@pytest.mark.parametrize(
    "excerpt",
    [
        "at 2:11:\ndef k(x, BLOCK: tl.constexpr):\n    y = tl.arange(0, x)\n           ^ {cause}",
        "at 2:11: def k(x, BLOCK: tl.constexpr):\n    y = tl.arange(0, x)\n           ^ {cause}",
        "at 2:11: def k(x, BLOCK: tl.constexpr):     y = tl.arange(0, x)            ^ {cause}",
    ],
)
@pytest.mark.parametrize("cause", ["NameError('tl is not defined')", "NameError: tl is not defined"])
def test_the_cause_behind_the_caret(head: str, excerpt: str, cause: str) -> None:
    diagnosis = diagnose_text(f"Triton says:\n{head}{excerpt.format(cause=cause)}\n\nThat is all.\n")
    assert diagnosis is not None
    assert diagnosis.headline == "NameError: tl is not defined"
    assert diagnosis.source is not None
    assert diagnosis.source.line == 2


@pytest.mark.parametrize("above", ["fails inside ops/mla_gluon.py:", "It is in file `ops/mla_gluon.py`:\n"])
def test_the_file_that_the_sentence_above_ends_with(above: str) -> None:
    diagnosis = diagnose_text(f"{above}\nCompilationError: at 3:4:\n    gl.load(x)\n    ^\nexpected a layout\n")
    assert diagnosis is not None
    assert diagnosis.source is not None
    assert (diagnosis.source.file, diagnosis.source.line) == ("ops/mla_gluon.py", 3)
