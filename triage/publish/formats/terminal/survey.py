"""The kernels of a project, their targets and releases, as a table for the terminal."""

import json
from collections.abc import Callable, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from triage.matrix.cell import CellVerdict
from triage.model.visible import shortened, visible
from triage.model.words import count
from triage.publish.compose.releases import MOST_TEXT, TONES
from triage.publish.document import Tone
from triage.publish.formats.terminal.console import line, paragraph
from triage.survey.table import KernelTable, SurveyCell, SurveyColumn, SurveyRow

_STYLE = {Tone.GOOD: "green", Tone.BAD: "red", Tone.ABSENT: "dim", Tone.UNSURE: "yellow"}
_MISSING = "·"
_MOST_NAME = 60
"""Characters of a kernel and its configuration; the longest names in packages have as many."""
_MOST_NAMED = 3
"""Cells that are named for a failure or a reason; the others are counted."""
_WORDS = {CellVerdict.SUSPECT: "suspect", CellVerdict.TIMEOUT: "timeout"}

Again = Callable[[SurveyRow, SurveyColumn], str]
"""The command that triages one cell."""


def table(console: Console, table: KernelTable, again: Again) -> None:
    """Print a table: rows by file, then the failures by letter, the reasons of undecided cells, and counts."""
    failures, rows = table.failures(), table.rows
    labels = {signature: f"{failure.label}" for signature, failure in failures.items()}
    several = len({column.triton for column in table.columns}) > 1
    heads = [f"{column.target} {column.triton}" if several else column.target for column in table.columns]
    names = {row: shortened(row.label, _MOST_NAME) for row in rows}
    first = max([len("kernel"), *(len(name) + 2 for name in names.values())]) + 2
    widths = [
        max(len(head), *(len(_words(table.cells.get((row, column)), labels)) for row in rows), 1) + 2
        for head, column in zip(heads, table.columns, strict=True)
    ]
    line(
        console,
        (f"{'kernel':<{first}}" + "".join(f"{h:<{w}}" for h, w in zip(heads, widths, strict=True))).rstrip(),
        style="bold",
    )
    for file, inside in groupby(rows, key=lambda row: row.file):
        line(console, file)
        for row in inside:
            text = Text(f"  {visible(names[row]):<{first - 2}}")
            for column, width in zip(table.columns, widths, strict=True):
                cell = table.cells.get((row, column))
                text.append(f"{_words(cell, labels):<{width}}", _STYLE[TONES[cell.verdict][0]] if cell else "dim")
            text.rstrip()
            console.print(text, soft_wrap=True)
    for signature, failure in failures.items():
        positions = table.of_failure(signature)
        console.print()
        paragraph(console, shortened(failure.headline, MOST_TEXT), style="red", indent=0, label=f"{failure.label}  ")
        if known := table.cells[positions[0]].known:
            line(console, f"   known: triage kb show {known}")
        line(console, f"   {count(len(positions), 'time')}, {_named(positions[:1], several, 0)}; in full:", style="dim")
        line(console, f"   {again(*positions[0])}", style="dim")
    if undecided := table.undecided():
        console.print()
        line(console, "could not tell", style="bold")
        for reason, positions in undecided.items():
            paragraph(
                console, f"{_named(positions, several, len(table.columns))}: {shortened(reason, MOST_TEXT)}", hanging=2
            )
    console.print()
    line(console, summary(table))


def document(table: KernelTable) -> str:
    """The table as the text of a file."""
    return json.dumps(table.to_json(), indent=1) + "\n"


def summary(table: KernelTable) -> str:
    """What was compiled, and how it went, in one line."""
    counts = table.counts()
    failed = sum(number for verdict, number in counts.items() if verdict.bad)
    kernels = len({(row.file, row.kernel) for row in table.rows})
    parts = [
        f"{counts[CellVerdict.COMPILES]} compile",
        f"{failed} fail" + (f" ({count(len(table.failures()), 'failure')})" if failed else ""),
        f"{counts[CellVerdict.UNDECIDED]} could not be told",
    ]
    devices = f"; {count(table.devices, 'function')} that only kernels call" if table.devices else ""
    across = f" for {len(table.columns)} targets and releases" if len(table.columns) > 1 else ""
    return f"{table.name}: {count(kernels, 'kernel')}{across}: {', '.join(parts)}{devices}"


def _words(cell: SurveyCell | None, labels: dict[str, str]) -> str:
    if cell is None:
        return _MISSING
    if not cell.verdict.bad:
        return cell.verdict.value
    return f"{_WORDS.get(cell.verdict, 'fails')} {labels[cell.signature or '']}"


def _named(positions: Sequence[tuple[SurveyRow, SurveyColumn]], several: bool, of: int) -> str:
    """Kernels, each with the columns that are meant, unless that is all (``of``)."""
    kernels: dict[SurveyRow, list[str]] = {}
    for row, column in positions:
        kernels.setdefault(row, []).append(f"{column.target} {column.triton}" if several else column.target)
    named = [
        row.kernel if len(columns) == of else f"{row.kernel} for {', '.join(columns)}"
        for row, columns in kernels.items()
    ]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return "; ".join(named[:_MOST_NAMED]) + more
