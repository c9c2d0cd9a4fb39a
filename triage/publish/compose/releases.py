"""The results with other releases and targets: as a section of a report, and in words for every format."""

from collections.abc import Iterator, Mapping

from triage.matrix.cell import CellVerdict, MatrixCell
from triage.matrix.history import History, Stretch
from triage.matrix.releases import Row
from triage.matrix.table import LabelledFailure, MatrixTable
from triage.model.visible import shortened
from triage.publish.document import Block, Bullets, Code, Line, Paragraph, ReportCell, ReportTable, Section, Tone
from triage.publish.finished import FinishedTriage

MOST_TEXT = 300
"""Characters of a headline or a reason."""
TONES: Mapping[CellVerdict, tuple[Tone, str]] = {
    CellVerdict.COMPILES: (Tone.GOOD, "\u2713"),
    CellVerdict.FAILS: (Tone.BAD, "\u2717"),
    CellVerdict.SUSPECT: (Tone.BAD, "\u2717"),
    CellVerdict.TIMEOUT: (Tone.BAD, "\u2717"),
    CellVerdict.NOT_APPLICABLE: (Tone.ABSENT, "\u2013"),
    CellVerdict.UNDECIDED: (Tone.UNSURE, "?"),
}
"""The verdicts, with a sign each: colour alone is not enough."""

Failures = Mapping[str, LabelledFailure]
"""Signature → failure."""


def releases(finished: FinishedTriage) -> Section | None:
    """The matrix of releases and targets, what its letters stand for, and where the failure began and ended."""
    table = finished.matrix
    if table is None:
        return None
    failures, title = table.failures(), table.case.compiler.title
    rows = []
    for row in table.rows:
        cells = (_cell(table.cells.get((row.name, target)), failures) for target in table.targets)
        rows.append((ReportCell((row_name(row, table),)), *cells))
    blocks: list[Block] = [
        ReportTable(f"{title} release and target", (title, *table.targets), tuple(rows)),
        Bullets(tuple(_lines(table, failures, finished.signature))),
    ]
    if table.bisected:
        count = table.bisected.releases
        note = f"A bisection of {count} releases: what lies between two that agree was not compiled."
        blocks.append(Paragraph((note,)))
    return Section("releases", f"{title} releases and targets", tuple(blocks))


def _cell(cell: MatrixCell | None, failures: Failures) -> ReportCell:
    if cell is None:
        return ReportCell(("\u00b7 not tried",), Tone.ABSENT)
    tone, sign = TONES[cell.verdict]
    return ReportCell((f"{sign} {verdict(cell, failures)}",), tone)


def _lines(table: MatrixTable, failures: Failures, signature: str | None) -> Iterator[Line]:
    for column in table.histories:
        yield (Code(column.target), f": {'; '.join(history(column, failures))}")
    for failure in failures.values():
        this = ", the failure of this report" if failure.signature == signature else ""
        headline, its_signature = Code(shortened(failure.headline, MOST_TEXT)), Code(failure.signature)
        yield (f"{failure.label}{this}: ", headline, "; signature ", its_signature)
    for rows, reason in reasons(table):
        yield (f"{rows}: ", Code(reason))


def row_name(row: Row, table: MatrixTable) -> str:
    """The name of a row; that of a build with the version that it turned out to be."""
    cells = [table.cells.get((row.name, target)) for target in table.targets]
    version = next((cell.release for cell in cells if cell and cell.release), None)
    return f"{row.name} ({version})" if row.python and version else row.name


def verdict(cell: MatrixCell, failures: Failures) -> str:
    """The verdict of a cell, with the letter of its failure."""
    return f"{cell.verdict.value} {failures[cell.signature or ''].label}" if cell.verdict.bad else cell.verdict.value


def reasons(table: MatrixTable) -> Iterator[tuple[str, str]]:
    """Why cells are not applicable or could not be decided: each reason once, behind the rows that it is of."""
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for row in table.rows:
        for target in table.targets:
            cell = table.cells.get((row.name, target))
            if cell is not None and cell.reason is not None:
                reasons.setdefault((cell.verdict.value, cell.reason), {})[row.name] = None
    for (verdict, reason), rows in reasons.items():
        yield f"{verdict} on {', '.join(rows)}", shortened(reason, MOST_TEXT)


def history(column: History, failures: Failures) -> Iterator[str]:
    """What each stretch of releases of a target did, where the failure began and ended, and the notes."""
    if not column.runs:
        yield "no release gave an answer"
        return
    yield "; ".join(_stretch(run, failures) for run in column.runs)
    if column.first_bad is not None:
        good, fixed = column.last_good or "none", column.fixed_in or "none"
        yield f"first bad: {column.first_bad}; last good before it: {good}; fixed in: {fixed}"
    yield from column.notes


def _stretch(run: Stretch, failures: Failures) -> str:
    label = f" ({failures[run.signature or ''].label})" if run.verdict.bad else ""
    first, last = run.releases[0], run.releases[-1]
    return f"{run.verdict.value} {first if first == last else f'{first} to {last}'}{label}"
