"""What failed: the failure in three lines, the failing text, the minimal reproducer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from triage.publish.compose.words import codes, ending, kernel_name, listing
from triage.publish.document import Block, Bullets, Code, Line, Listing, Paragraph, Section, Weight
from triage.publish.fields import Fields
from triage.publish.finished import MINIMIZED, REPORT, Excerpt, Finished, Minimized
from triage.publish.visible import clipped

_MOST_MESSAGE_LINES, _MOST_MESSAGE_WIDTH = 40, 1_000
"""Of the failing text, which the log holds whole."""


def describe(found: Finished) -> Section:
    """The bug as Triton's form asks for it: what it is, a minimal example, the error message."""
    blocks: list[Block] = []
    report = Fields(found.report, REPORT)
    if report:
        blocks.append(Bullets(tuple(_three_lines(report, reduced=found.minimized is not None))))
    if found.minimized is not None:
        blocks += _reproducer(found.minimized)
    elif found.kernel is not None:
        blocks += _whole_case(report.inside("case"), found.kernel, found.beside)
    if report:
        blocks += _message(report.inside("diagnosis"))
    return Section("bug", "Describe the bug", tuple(blocks))


def _three_lines(report: Fields, reduced: bool) -> Iterator[Line]:
    outcome, diagnosis = report.inside("outcome"), report.inside("diagnosis")
    what = ending(outcome)
    if not diagnosis:
        yield ("What: ", what)
        return
    function, file, line = diagnosis.maybe("function"), diagnosis.maybe("file"), diagnosis.whole("line")
    place = f"{file}:{line}" if file and line else file
    named = [Code(part) for part in (function, place) if part]
    inside: Line = (" in ", *((named[0], ", ", named[1]) if len(named) > 1 else named)) if named else ()
    yield ("What: ", f"{what}: {diagnosis.text('kind')}", *inside)
    stage, done = outcome.maybe("stage"), ", ".join(outcome.texts("stages_completed"))
    source = diagnosis.inside("source")
    where: Line = (f"stage {stage}" if stage else "before any stage", f" (completed: {done})" if done else "")
    if source:
        column = source.whole("column")
        position = f"{source.text('file')}:{source.whole('line')}{f':{column}' if column else ''}"
        where = (*where, ", at ", Code(position), " before it was reduced" if reduced else "", *_source_text(source))
    yield ("Where: ", *where)
    if (inside_pass := diagnosis.maybe("pass")) is not None:
        yield ("Pass: ", Code(inside_pass))


def _source_text(source: Fields) -> Line:
    text = (source.maybe("text") or "").strip()
    return (": ", Code(text)) if text else ()


def _reproducer(minimized: Minimized) -> Iterator[Block]:
    document = Fields(minimized.document, MINIMIZED)
    before, after = document.inside("before").whole("tokens"), document.inside("after").whole("tokens")
    size = f", taken down from {before} to {after} tokens while it fails the same way" if before and after else ""
    yield listing(f"The kernel{size}", minimized.kernel, "kernel.py", Weight.ESSENTIAL, folded=False)
    runs = document.plain().get("reproduced")
    seen = (
        f"It was run twice in fresh processes, and ended with {codes(runs)}."
        if isinstance(runs, list) and document.flag("confirmed")
        else "Its runs were not recorded."
    )
    gpu = "Triton and a GPU" if minimized.script_name == "reproducer_launch.py" else "Triton alone, no GPU and no torch"
    yield Paragraph(
        (
            Code(minimized.script_name),
            f" is one file that needs {gpu}; it exits with 1 when the failure is there, with 0 when it is gone, and "
            f"with 125 when it cannot tell. {seen}",
        )
    )
    yield listing(f"{minimized.script_name} (paste and run)", minimized.script, "reproducer.py", Weight.SCRIPT)


def _whole_case(case: Fields, kernel: Excerpt, beside: Mapping[str, Excerpt]) -> Iterator[Block]:
    """Nothing was reduced: the kernel's file and what triage compiles it with."""
    name = case.inside("kernel").maybe("file") or "kernel.py"
    yield Paragraph((f"The kernel is {kernel_name(case)}; this is its whole file, nothing was taken out.",))
    yield listing(name, kernel, name, Weight.SCRIPT)
    for other, text in beside.items():
        yield listing(f"{other}, which it imports", text, other, Weight.SCRIPT)
    document = {key: value for key, value in case.plain().items() if key != "origin"}
    yield Listing("case.json", json.dumps(document, indent=1), "json", weight=Weight.SCRIPT)


def _message(diagnosis: Fields) -> Iterator[Block]:
    if not diagnosis:
        return
    lines = [line for line in diagnosis.text("message").split("\n") if line.strip()]
    if lines:
        shown = clipped("\n".join(lines[:_MOST_MESSAGE_LINES]), _MOST_MESSAGE_WIDTH)
        more = len(lines) - _MOST_MESSAGE_LINES
        rest = f"\n\u2026 {more} more lines in the log" if more > 0 else ""
        yield Listing("The failing text", shown + rest, folded=False, weight=Weight.ESSENTIAL)
    if notes := diagnosis.texts("notes"):
        yield Bullets(tuple((note,) for note in notes))
