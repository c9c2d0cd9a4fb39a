"""The table over releases and targets, for the terminal and for an issue: the same facts in both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console
from rich.text import Text

from triage.matrix.cell import CellVerdict, MatrixCell
from triage.matrix.history import History, Stretch
from triage.matrix.releases import Row
from triage.matrix.table import LabelledFailure, MatrixTable
from triage.publish.formats.markdown import code, escaped
from triage.publish.visible import one_line, shortened, visible

_STYLE = {
    CellVerdict.COMPILES: "green",
    CellVerdict.FAILS: "red",
    CellVerdict.SUSPECT: "red",
    CellVerdict.TIMEOUT: "red",
    CellVerdict.NOT_APPLICABLE: "dim",
    CellVerdict.UNDECIDED: "yellow",
}
_NOT_TRIED = "·"
_MOST_HEADLINE = 300


def table(console: Console, table: MatrixTable, again: str) -> None:
    """Print a table; ``again`` is the command that repeats it."""
    _line(console, _title(table), style="bold")
    console.print()
    letters = table.failures()
    names = [_name(row, table) for row in table.rows]
    first = max(map(len, ["Triton", *names])) + 2
    widths = [max(map(len, [target, *_column(table, target, letters)])) + 2 for target in table.targets]
    heads = "".join(f"{target:<{width}}" for target, width in zip(table.targets, widths, strict=True))
    console.print(Text(f"{'Triton':<{first}}{heads}".rstrip(), style="bold"), soft_wrap=True)
    for row, name in zip(table.rows, names, strict=True):
        line = Text(f"{name:<{first}}")
        for target, width in zip(table.targets, widths, strict=True):
            cell = table.cells.get((row.name, target))
            line.append(f"{_words(cell, letters):<{width}}", style=_STYLE[cell.verdict] if cell else "dim")
        line.rstrip()
        console.print(line, soft_wrap=True)
    console.print()
    for failure in letters.values():
        _line(console, f"{failure.label}  {shortened(failure.headline, _MOST_HEADLINE)}", hanging=3, style="red")
        if len(letters) > 1:
            # Two bugs may read alike.
            _line(console, visible(failure.signature), indent=3, hanging=2, style="dim")
    for where, reason in _reasons(table):
        _line(console, f"{where}: {reason}", hanging=2, style="dim")
    for column in table.histories:
        console.print()
        console.print(Text(column.target, style="bold"))
        for text in _history(column, letters):
            _line(console, text, indent=2, hanging=2)
    if table.bisected is not None:
        _line(console, _effort(table), style="dim")
    console.print()
    console.print(Text(f"Again: {visible(again)}", style="dim"), soft_wrap=True)


def markdown(table: MatrixTable, again: str) -> str:
    """The table as GitHub's Markdown, ready to paste: what comes from a kernel, a log or an installer stands in code
    spans, so nothing of it becomes a link, a mention or HTML."""
    letters = table.failures()
    lines = [code(_title(table)), ""]
    lines.append(_cells("Triton", *table.targets))
    lines.append(_cells(*["---"] * (len(table.targets) + 1)))
    for row in table.rows:
        words = [_words(table.cells.get((row.name, target)), letters) for target in table.targets]
        lines.append(_cells(_name(row, table), *words))
    lines.append("")
    for failure in letters.values():
        lines.append(f"- {failure.label}: {code(shortened(failure.headline, _MOST_HEADLINE))}")
        lines.append(f"  - signature {code(one_line(failure.signature))}")
    lines += [f"- {escaped(where)}: {code(reason)}" for where, reason in _reasons(table)]
    for column in table.histories:
        lines += ["", f"{column.target}:", ""]
        lines += [f"- {escaped(text)}" for text in _history(column, letters)]
    if table.bisected is not None:
        lines += ["", _effort(table)]
    return "\n".join([*lines, "", f"Made with {code(one_line(again))}", ""])


def _title(table: MatrixTable) -> str:
    settings = table.case.settings()
    return visible(f"{table.case.name}: {settings}" if settings else table.case.name)


def _name(row: Row, table: MatrixTable) -> str:
    """A build with the version that it turned out to be."""
    if row.python is None:
        return visible(row.name)
    cells = [table.cells.get((row.name, target)) for target in table.targets]
    version = next((cell.triton for cell in cells if cell and cell.triton), None)
    return visible(f"{row.name} ({version})" if version else row.name)


def _column(table: MatrixTable, target: str, letters: Mapping[str, LabelledFailure]) -> list[str]:
    return [_words(table.cells.get((row.name, target)), letters) for row in table.rows]


def _words(cell: MatrixCell | None, letters: Mapping[str, LabelledFailure]) -> str:
    if cell is None:
        return _NOT_TRIED
    return f"{cell.verdict.value} {letters[cell.signature or ''].label}" if cell.verdict.bad else cell.verdict.value


def _reasons(table: MatrixTable) -> Iterator[tuple[str, str]]:
    """Why cells are not applicable, could not be told or are missing: each reason once, behind the rows it is of."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in table.rows:
        for target in table.targets:
            cell = table.cells.get((row.name, target))
            if cell is not None and cell.reason is not None:
                rows = reasons.setdefault((cell.verdict.value, cell.reason), [])
                if row.name not in rows:
                    rows.append(row.name)
    if any((row.name, target) not in table.cells for row in table.rows for target in table.targets):
        yield _NOT_TRIED, "not tried"
    for (verdict, reason), rows in reasons.items():
        yield visible(f"{verdict} on {', '.join(rows)}"), shortened(reason, _MOST_HEADLINE)


def _history(column: History, letters: Mapping[str, LabelledFailure]) -> Iterator[str]:
    if not column.runs:
        yield "no release gave an answer"
        return
    yield visible("; ".join(_run(run, letters) for run in column.runs))
    if column.first_bad is not None:
        good = column.last_good or "none"
        yield visible(
            f"first bad: {column.first_bad}; last good before it: {good}; fixed in: {column.fixed_in or 'none'}"
        )
    for note in column.notes:
        yield visible(note)


def _run(run: Stretch, letters: Mapping[str, LabelledFailure]) -> str:
    label = f" ({letters[run.signature or ''].label})" if run.verdict.bad else ""
    first, last = run.releases[0], run.releases[-1]
    return f"{run.verdict.value} {first if first == last else f'{first} to {last}'}{label}"


def _effort(table: MatrixTable) -> str:
    assert table.bisected is not None
    used = ", ".join(f"{count} for {target}" for target, count in table.bisected.compiles.items())
    return f"bisected {table.bisected.releases} releases; compiles: {used}; at most {table.bisected.budget} each"


def _cells(*texts: str) -> str:
    return f"| {' | '.join(escaped(text) for text in texts)} |"


def _line(console: Console, text: str, style: str = "", indent: int = 0, hanging: int = 0) -> None:
    """A paragraph, wrapped here, because rich would pad every line to the full width."""
    width = max(console.width - indent - hanging, 20)
    for number, line in enumerate(Text(text, style=style).wrap(console, width)):
        line.rstrip()
        console.print(Text(" " * (indent + (hanging if number else 0))) + line, soft_wrap=True)
