"""A text says the same however it was copied: indented, numbered, with empty lines between, joined, cut at a width."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from triage.logs import diagnose_text
from triage.logs.copied import as_printed

REPORT = """\
Traceback (most recent call last):
  File "/w/run.py", line 41, in step
    scale_rows[grid](x, n)
  File "/v/site-packages/triton/compiler/compiler.py", line 100, in make_ir
    return ast_to_ttir(self.fn, self, context=context, options=options)
triton.compiler.errors.CompilationError: at 11:8:
def scale_rows(x, n):
    row = tl.program_id(0)
    a = row + 1
    b = row + 2
    c = row + 3
    d = row + 4
    e = row + 5

    f = row + 6
    at = x + row * n
    v = tl.load(at, mask=row)
        ^
ValueError: the mask is no block"""
NOTE = 'python: /b/lib/Dialect.cpp:12: int mlir::A::f(int) const: Assertion `x >= 1 && "why"\' failed.'
ABOUT = "With Triton 3.2 this fails on our machine."

COPIED: dict[str, Callable[[list[str]], list[str]]] = {
    "empty lines between": lambda lines: [part for line in lines for part in (line, "")],
    "indented": lambda lines: [f"    {line}" for line in lines],
    "indented by tabs": lambda lines: [f"\t{line}" for line in lines],
    "numbered": lambda lines: [f"{number:4} {line}" for number, line in enumerate(lines, 98)],
    "numbered with colons": lambda lines: [f"{number}: {line}" for number, line in enumerate(lines, 1)],
    "joined": lambda lines: [" ".join(lines)],
    "in a string": lambda lines: ["\\n".join(lines)],
}


@pytest.mark.parametrize("copied", COPIED)
def test_a_report_however_it_was_copied(copied: str) -> None:
    lines = COPIED[copied](REPORT.split("\n"))
    diagnosis = diagnose_text("\n".join([ABOUT, "", *lines, "", "Any idea?"]))
    assert diagnosis is not None and diagnosis.source is not None
    assert (diagnosis.headline, diagnosis.source.line) == ("ValueError: the mask is no block", 11)


@pytest.mark.parametrize("copied", COPIED)
def test_an_assertion_however_it_was_copied(copied: str) -> None:
    lines = COPIED[copied](
        ["+ python -m bench --all", "loading", "", "compiling", "5 left", NOTE, "Aborted (core dumped)"]
    )
    diagnosis = diagnose_text("\n".join([ABOUT, "", *lines, "", "Any idea?"]))
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("Dialect.cpp", 12, "A::f")


PLAIN = [
    "A paragraph.\n\nAnother one.\n\nA third one.\n\nA fourth.\n\nA fifth one.",
    "def f():\n    if x:\n        y = 1\n\n    return y",
    "     1 a = 1\n     2 b = 2\n     3 c = 3\n     4 d = 4\n     5 e = 5\n     6 f = 6\n     7 g = 7",
    "error: no backend\n  note: log:\n        (error 9: X), lib\n        extra: error: constraint 'n' is none",
    "Words of a sentence that goes on and on, " * 20,
]


@pytest.mark.parametrize("text", PLAIN)
def test_what_was_not_copied_so_is_left_as_it_is(text: str) -> None:
    assert as_printed(text) == text


def test_lines_that_a_terminal_cut_over_a_whole_text() -> None:
    lines = [f"step {number}: " + "loss 0.25 " * 12 for number in range(4)]
    cut = [line[at : at + 90] for line in [*lines, "", NOTE] for at in range(0, len(line) or 1, 90)]
    diagnosis = diagnose_text("\n".join(["With Triton:", *cut]))
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line, diagnosis.function) == ("Dialect.cpp", 12, "A::f")


def test_colours_that_lost_their_escape() -> None:
    report = (
        "\x1b[91m\x1b[1merror[UNSUP_EARLY_EXIT]:\x1b[0m Early exit (break) is not allowed in `first`.\n"
        " \x1b[94m-->\x1b[0m /w/first.py:8:13\n  |\n8 |             break\n  |             \x1b[91m^^^^^\x1b[0m\n"
    )
    whole, copied = diagnose_text(report), diagnose_text(report.replace("\x1b", ""))
    assert whole is not None and whole.source is not None and whole.source.line == 8
    assert copied == whole


def test_an_answer_that_quotes_lines_which_a_terminal_cut() -> None:
    printed = (
        "python: /project/lib/Dialect/Triton/Transforms/RewriteTensorPointer.cpp:258: mlir::Operation* "
        "RewriteTensorPointerPass::rewriteAdvanceOp(mlir::OpBuilder&, mlir::triton::AdvanceOp): Assertion "
        "`info.length() == op.getOffsets().size()' failed."
    )
    cut = "\n".join(f">> {printed[start : start + 72]}" for start in range(0, len(printed), 72))
    diagnosis = diagnose_text(
        f"Re: nightly\n\n>> Kernel rowsum, exit -6:\n{cut}\n>\n> that is Tom's patch.\n\nReverted.\n"
    )
    assert diagnosis is not None
    assert (diagnosis.file, diagnosis.line) == ("RewriteTensorPointer.cpp", 258)
    assert diagnosis.function == "RewriteTensorPointerPass::rewriteAdvanceOp"
