"""What failed: the failure in three lines, the failing text, the minimal reproducer."""

import json
from collections.abc import Iterator, Mapping

from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, SourceLocation
from triage.model.report import Report
from triage.publish.clipping import clipped
from triage.publish.compose.excerpts import listing
from triage.publish.diagnosis_words import location
from triage.publish.document import Block, Bullets, Code, Line, Listing, Paragraph, Section, Strong, Weight
from triage.publish.finished import Excerpt, FinishedTriage, Reduction
from triage.publish.words import ending, exit_codes

_MOST_MESSAGE_LINES, _MOST_MESSAGE_WIDTH = 40, 1_000
"""Of the failing text; the log has all of it."""


def describe(finished: FinishedTriage) -> Section:
    """The bug as Triton's form asks for it: what it is, a minimal example, the error message."""
    blocks: list[Block] = []
    report, reduction = finished.report, finished.reduction
    if report is not None:
        blocks.append(Bullets(tuple(_three_lines(report, reduced=reduction is not None))))
    if reduction is not None:
        blocks += _reproducer(reduction)
    elif report is not None and finished.kernel is not None:
        blocks += _whole_case(report.case, finished.kernel, finished.beside)
    if report is not None and report.diagnosis is not None:
        blocks += _message(report.diagnosis)
    return Section("bug", "Describe the bug", tuple(blocks))


def _three_lines(report: Report, reduced: bool) -> Iterator[Line]:
    outcome, diagnosis = report.outcome, report.diagnosis
    if diagnosis is None:
        yield ("What: ", ending(outcome))
        yield from ((note,) for note in outcome.notes)
        return
    named = [Code(part) for part in (diagnosis.function, location(diagnosis)) if part]
    inside: Line = (" in ", *((named[0], ", ", named[1]) if len(named) > 1 else named)) if named else ()
    yield ("What: ", f"{ending(outcome)}: {diagnosis.kind.value}", *inside)
    done = ", ".join(stage.value for stage in outcome.stages_completed)
    stage = f"stage {outcome.stage.value}" if outcome.stage else "before any stage"
    yield ("Where: ", stage, f" (completed: {done})" if done else "", *_source(diagnosis.source, reduced))
    if diagnosis.pass_name is not None:
        yield ("Pass: ", Code(diagnosis.pass_name))


def _source(source: SourceLocation | None, reduced: bool) -> Line:
    if source is None:
        return ()
    position = f"{source.file}:{source.line}{f':{source.column}' if source.column else ''}"
    text = (source.text or "").strip()
    return (
        ", at ", Code(position), " before it was reduced" if reduced else "", *((": ", Code(text)) if text else ())
    )  # fmt: skip


def _reproducer(reduction: Reduction) -> Iterator[Block]:
    result = reduction.result
    before, after = result.before.tokens, result.after.tokens
    size = f", taken down from {before} to {after} tokens while it fails the same way" if before and after else ""
    yield listing(f"The kernel{size}", reduction.kernel, "kernel.py", Weight.ESSENTIAL, folded=False)
    runs = (
        f"It was run twice in fresh processes, and ended with {exit_codes(result.reproduced)}."
        if result.confirmed and result.reproduced
        else "Its runs were not recorded."
    )
    compiler = result.case.compiler.title
    launches = reduction.script_name == "reproducer_launch.py"
    needs = f"{compiler} and a GPU" if launches else f"{compiler} alone, no GPU and no torch"
    yield Paragraph(
        (
            Code(reduction.script_name),
            f" is one file that needs {needs}; it exits with 1 when the failure is there, with 0 when it is gone, and "
            f"with 125 when it cannot tell. {runs}",
        )
    )
    if checked := result.memory_check:
        yield Paragraph((Strong(checked.words()) if checked.errors else checked.words(),))
    elif result.no_memory_check:
        yield Paragraph((f"It was not run under compute-sanitizer: {result.no_memory_check}",))
    yield listing(f"{reduction.script_name} (paste and run)", reduction.script, "reproducer.py", Weight.SCRIPT)


def _whole_case(case: Case, kernel: Excerpt, beside: Mapping[str, Excerpt]) -> Iterator[Block]:
    """Nothing was reduced: the kernel's file and what triage compiles it with."""
    extent = "all that it reaches in its file" if case.is_sliced else "its whole file"
    yield Paragraph((f"The kernel is {case.name}; this is {extent}, nothing was taken out.",))
    yield listing(case.file, kernel, case.file, Weight.SCRIPT)
    for name, text in beside.items():
        yield listing(f"{name}, which it imports", text, name, Weight.SCRIPT)
    document = case.to_json()
    del document["origin"]
    yield Listing("case.json", json.dumps(document, indent=1), "json", weight=Weight.SCRIPT)


def _message(diagnosis: Diagnosis) -> Iterator[Block]:
    lines = [line for line in diagnosis.message.split("\n") if line.strip()]
    if lines:
        shown = clipped("\n".join(lines[:_MOST_MESSAGE_LINES]), _MOST_MESSAGE_WIDTH)
        more = len(lines) - _MOST_MESSAGE_LINES
        rest = f"\n\u2026 {more} more lines in the log" if more > 0 else ""
        yield Listing("The failing text", shown + rest, folded=False, weight=Weight.ESSENTIAL)
    if diagnosis.notes:
        yield Bullets(tuple((note,) for note in diagnosis.notes))
