"""The table over releases and targets, for the terminal and for an issue: the same facts in both."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from triage.matrix.cell import MatrixCell
from triage.matrix.table import MatrixTable
from triage.model.visible import one_line, shortened, visible
from triage.publish.compose.releases import MOST_TEXT, TONES, Failures, history, reasons, row_name, verdict
from triage.publish.document import Tone
from triage.publish.formats.markdown import code, escaped
from triage.publish.formats.terminal.console import line, paragraph, section

_STYLE = {Tone.GOOD: "green", Tone.BAD: "red", Tone.ABSENT: "dim", Tone.UNSURE: "yellow"}
_NOT_TRIED = "·"


def table(console: Console, table: MatrixTable, again: str) -> None:
    """Print a table; ``again`` is the command that repeats it."""
    paragraph(console, _title(table), style="bold", indent=0)
    console.print()
    letters, title = table.failures(), table.case.compiler.title
    names = [visible(row_name(row, table)) for row in table.rows]
    first = max(map(len, [title, *names])) + 2
    widths = []
    for target in table.targets:
        cells = [_words(table.cells.get((row.name, target)), letters) for row in table.rows]
        widths.append(max(map(len, [target, *cells])) + 2)
    heads = "".join(f"{target:<{width}}" for target, width in zip(table.targets, widths, strict=True))
    line(console, f"{title:<{first}}{heads}".rstrip(), style="bold")
    for row, name in zip(table.rows, names, strict=True):
        text = Text(f"{name:<{first}}")
        for target, width in zip(table.targets, widths, strict=True):
            cell = table.cells.get((row.name, target))
            text.append(f"{_words(cell, letters):<{width}}", style=_STYLE[TONES[cell.verdict][0]] if cell else "dim")
        text.rstrip()
        console.print(text, soft_wrap=True)
    console.print()
    for failure in letters.values():
        headline = shortened(failure.headline, MOST_TEXT)
        paragraph(console, headline, style="red", indent=0, label=f"{failure.label}  ")
        if len(letters) > 1:
            # Two bugs may read alike.
            paragraph(console, failure.signature, style="dim", indent=3, hanging=2)
    for rows, reason in _notes(table):
        paragraph(console, f"{rows}: {reason}", style="dim", indent=0, hanging=2)
    for column in table.histories:
        section(console, column.target)
        for part in history(column, letters):
            paragraph(console, part, hanging=2)
    if table.bisected is not None:
        paragraph(console, _effort(table), style="dim", indent=0)
    console.print()
    line(console, f"Again: {again}", style="dim")


def markdown(table: MatrixTable, again: str) -> str:
    """The table as GitHub's Markdown, ready to paste: what comes from a kernel, a log or an installer is in code
    spans, so nothing of it becomes a link, a mention or HTML."""
    letters = table.failures()
    lines = [code(_title(table)), ""]
    lines.append(_cells(table.case.compiler.title, *table.targets))
    lines.append(_cells(*["---"] * (len(table.targets) + 1)))
    for row in table.rows:
        words = [_words(table.cells.get((row.name, target)), letters) for target in table.targets]
        lines.append(_cells(visible(row_name(row, table)), *words))
    lines.append("")
    for failure in letters.values():
        lines.append(f"- {failure.label}: {code(shortened(failure.headline, MOST_TEXT))}")
        lines.append(f"  - signature {code(one_line(failure.signature))}")
    lines += [f"- {escaped(visible(rows))}: {code(reason)}" for rows, reason in _notes(table)]
    for column in table.histories:
        lines += ["", f"{column.target}:", ""]
        lines += [f"- {escaped(visible(text))}" for text in history(column, letters)]
    if table.bisected is not None:
        lines += ["", _effort(table)]
    return "\n".join([*lines, "", f"Made with {code(one_line(again))}", ""])


def _title(table: MatrixTable) -> str:
    settings = table.case.settings()
    return visible(f"{table.case.name}: {settings}" if settings else table.case.name)


def _words(cell: MatrixCell | None, letters: Failures) -> str:
    return verdict(cell, letters) if cell else _NOT_TRIED


def _notes(table: MatrixTable) -> Iterator[tuple[str, str]]:
    """What the cells without a result stand for."""
    if any((row.name, target) not in table.cells for row in table.rows for target in table.targets):
        yield _NOT_TRIED, "not tried"
    yield from reasons(table)


def _effort(table: MatrixTable) -> str:
    assert table.bisected is not None
    used = ", ".join(f"{count} for {target}" for target, count in table.bisected.compiles.items())
    return f"bisected {table.bisected.releases} releases; compiles: {used}; at most {table.bisected.budget} each"


def _cells(*texts: str) -> str:
    return f"| {' | '.join(escaped(text) for text in texts)} |"
