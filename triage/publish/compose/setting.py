"""Configuration and environment, and the results with other releases and targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from triage.matrix.cell import CellVerdict, MatrixCell
from triage.matrix.table import LabelledFailure, MatrixTable
from triage.model.outcome import Stage
from triage.model.report import Report
from triage.publish.document import Block, Bullets, Code, Line, Paragraph, ReportCell, ReportTable, Section, Tone
from triage.publish.finished import Finished
from triage.publish.visible import clipped
from triage.publish.words import settings

_MOST_REASON = 300
_TONES: Mapping[CellVerdict, tuple[Tone, str]] = {
    CellVerdict.COMPILES: (Tone.GOOD, "\u2713"),
    CellVerdict.FAILS: (Tone.BAD, "\u2717"),
    CellVerdict.SUSPECT: (Tone.BAD, "\u2717"),
    CellVerdict.TIMEOUT: (Tone.BAD, "\u2717"),
    CellVerdict.NOT_APPLICABLE: (Tone.ABSENT, "\u2013"),
    CellVerdict.UNDECIDED: (Tone.UNSURE, "?"),
}
"""The verdicts, with a sign each: colour alone is not enough."""


def environment(finished: Finished) -> Section | None:
    """Configuration and environment, in a table."""
    report, case = finished.report, finished.case
    if case is None:
        return None
    names = {"triton": "Triton", "python": "Python", "ptxas": "ptxas", "platform": "Platform", "triage": "triage"}
    known = report.environment if report else {}
    rows = [(names.get(name, name), value) for name, value in known.items() if name != "target"]
    rows.insert(1, ("Target", str(case.target)))
    if report:
        rows.insert(2, ("GPU", _gpu(report)))
    rows += [
        ("Kernel", f"{case.name} ({case.language.value})"),
        ("Arguments", ", ".join(f"{name}: {type_}" for name, type_ in case.signature.items())),
        ("Divisible by 16", ", ".join(name for name, value in case.divisible.items() if value == 16)),
        ("Constexprs", settings(case.constexprs)),
        ("Options", settings(case.options)),
    ]
    cells = tuple(
        (ReportCell((name,)), ReportCell((value if name == "GPU" else Code(value),))) for name, value in rows if value
    )
    blocks: list[Block] = [ReportTable("Configuration and environment", ("", ""), cells)]
    if finished.reduction is not None:
        note = "Kernel, arguments, constexprs and options are those it was met with; the reduced kernel's are in "
        blocks.append(Paragraph((note, Code(finished.reduction.script_name), ".")))
    return Section("environment", "Environment details", tuple(blocks))


def _gpu(report: Report) -> str:
    if devices := {suggestion.measured.device for suggestion in report.suggestions if suggestion.measured}:
        return ", ".join(sorted(devices))
    launched = report.outcome.stage is Stage.LAUNCH
    return "used for the launch that failed" if launched else "none is needed: it was compiled, not launched"


def releases(finished: Finished) -> Section | None:
    """The matrix of releases and targets, what its letters stand for, and where the failure began and ended."""
    table = finished.matrix
    if table is None:
        return None
    failures = table.failures()
    rows = []
    for row in table.rows:
        cells = [table.cells.get((row.name, target)) for target in table.targets]
        version = next((cell.triton for cell in cells if cell), None)
        name = f"{row.name} ({version})" if row.python and version else row.name
        rows.append((ReportCell((name,)), *(_cell(cell, failures) for cell in cells)))
    lines = (*_histories(table), *_letters(failures.values(), finished.signature), *_reasons(table))
    blocks: list[Block] = [
        ReportTable("Triton release and target", ("Triton", *table.targets), tuple(rows)),
        Bullets(lines),
    ]
    if table.bisected:
        count = table.bisected.releases
        note = f"A bisection of {count} releases: what lies between two that agree was not compiled."
        blocks.append(Paragraph((note,)))
    return Section("releases", "Triton releases and targets", tuple(blocks))


def _cell(cell: MatrixCell | None, failures: Mapping[str, LabelledFailure]) -> ReportCell:
    if cell is None:
        return ReportCell(("\u00b7 not tried",), Tone.ABSENT)
    tone, sign = _TONES[cell.verdict]
    label = f" {failures[cell.signature or ''].label}" if cell.verdict.bad else ""
    return ReportCell((f"{sign} {cell.verdict.value}{label}",), tone)


def _histories(table: MatrixTable) -> Iterator[Line]:
    for history in table.histories:
        edges = "no release that was tried fails"
        if history.first_bad is not None:
            good, fixed = history.last_good or "none", history.fixed_in or "none"
            edges = f"first bad {history.first_bad}; last good before it: {good}; fixed in: {fixed}"
        yield (Code(history.target), f": {'; '.join([edges, *history.notes])}")


def _letters(failures: Iterable[LabelledFailure], signature: str | None) -> Iterator[Line]:
    for failure in failures:
        headline = clipped(failure.headline, _MOST_REASON)
        this = ", the failure of this report" if failure.signature == signature else ""
        yield (f"{failure.label}{this}: ", Code(headline), "; signature ", Code(failure.signature))


def _reasons(table: MatrixTable) -> Iterator[Line]:
    rows: dict[tuple[CellVerdict, str], dict[str, None]] = {}
    for (row, _), cell in table.cells.items():
        if cell.reason is not None:
            rows.setdefault((cell.verdict, cell.reason), {})[row] = None
    for (verdict, reason), names in rows.items():
        yield (f"{verdict.value} on {', '.join(names)}: ", Code(clipped(reason, _MOST_REASON)))
