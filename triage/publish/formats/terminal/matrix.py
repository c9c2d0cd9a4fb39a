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


def table(console: Console, found: MatrixTable, again: str) -> None:
    """Print a table; ``again`` is the command that repeats it."""
    _line(console, _title(found), style="bold")
    console.print()
    letters = found.failures()
    names = [_name(row, found) for row in found.rows]
    first = max(map(len, ["Triton", *names])) + 2
    widths = [max(map(len, [target, *_column(found, target, letters)])) + 2 for target in found.targets]
    heads = "".join(f"{target:<{width}}" for target, width in zip(found.targets, widths, strict=True))
    console.print(Text(f"{'Triton':<{first}}{heads}".rstrip(), style="bold"), soft_wrap=True)
    for row, name in zip(found.rows, names, strict=True):
        line = Text(f"{name:<{first}}")
        for target, width in zip(found.targets, widths, strict=True):
            cell = found.cells.get((row.name, target))
            line.append(f"{_words(cell, letters):<{width}}", style=_STYLE[cell.verdict] if cell else "dim")
        line.rstrip()
        console.print(line, soft_wrap=True)
    console.print()
    for failure in letters.values():
        _line(console, f"{failure.label}  {shortened(failure.headline, _MOST_HEADLINE)}", hanging=3, style="red")
        if len(letters) > 1:
            # Two bugs may read alike.
            _line(console, visible(failure.signature), indent=3, hanging=2, style="dim")
    for where, reason in _reasons(found):
        _line(console, f"{where}: {reason}", hanging=2, style="dim")
    for one in found.histories:
        console.print()
        console.print(Text(one.target, style="bold"))
        for text in _history(one, letters):
            _line(console, text, indent=2, hanging=2)
    if found.bisected is not None:
        _line(console, _effort(found), style="dim")
    console.print()
    console.print(Text(f"Again: {visible(again)}", style="dim"), soft_wrap=True)


def markdown(found: MatrixTable, again: str) -> str:
    """The table as GitHub's Markdown, ready to paste: what comes from a kernel, a log or an installer stands in code
    spans, so nothing of it becomes a link, a mention or HTML."""
    letters = found.failures()
    lines = [code(_title(found)), ""]
    lines.append(_cells("Triton", *found.targets))
    lines.append(_cells(*["---"] * (len(found.targets) + 1)))
    for row in found.rows:
        words = [_words(found.cells.get((row.name, target)), letters) for target in found.targets]
        lines.append(_cells(_name(row, found), *words))
    lines.append("")
    for failure in letters.values():
        lines.append(f"- {failure.label}: {code(shortened(failure.headline, _MOST_HEADLINE))}")
        lines.append(f"  - signature {code(one_line(failure.signature))}")
    lines += [f"- {escaped(where)}: {code(reason)}" for where, reason in _reasons(found)]
    for one in found.histories:
        lines += ["", f"{one.target}:", ""]
        lines += [f"- {escaped(text)}" for text in _history(one, letters)]
    if found.bisected is not None:
        lines += ["", _effort(found)]
    return "\n".join([*lines, "", f"Made with {code(one_line(again))}", ""])


def _title(found: MatrixTable) -> str:
    settings = found.case.settings()
    return visible(f"{found.case.name}: {settings}" if settings else found.case.name)


def _name(row: Row, found: MatrixTable) -> str:
    """A build with the version that it turned out to be."""
    if row.python is None:
        return visible(row.name)
    cells = [found.cells.get((row.name, target)) for target in found.targets]
    version = next((cell.triton for cell in cells if cell and cell.triton), None)
    return visible(f"{row.name} ({version})" if version else row.name)


def _column(found: MatrixTable, target: str, letters: Mapping[str, LabelledFailure]) -> list[str]:
    return [_words(found.cells.get((row.name, target)), letters) for row in found.rows]


def _words(cell: MatrixCell | None, letters: Mapping[str, LabelledFailure]) -> str:
    if cell is None:
        return _NOT_TRIED
    return f"{cell.verdict.value} {letters[cell.signature or ''].label}" if cell.verdict.bad else cell.verdict.value


def _reasons(found: MatrixTable) -> Iterator[tuple[str, str]]:
    """Why cells are not applicable, could not be told or are missing: each reason once, behind the rows it is of."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in found.rows:
        for target in found.targets:
            cell = found.cells.get((row.name, target))
            if cell is not None and cell.reason is not None:
                rows = reasons.setdefault((cell.verdict.value, cell.reason), [])
                if row.name not in rows:
                    rows.append(row.name)
    if any((row.name, target) not in found.cells for row in found.rows for target in found.targets):
        yield _NOT_TRIED, "not tried"
    for (verdict, reason), rows in reasons.items():
        yield visible(f"{verdict} on {', '.join(rows)}"), shortened(reason, _MOST_HEADLINE)


def _history(one: History, letters: Mapping[str, LabelledFailure]) -> Iterator[str]:
    if not one.runs:
        yield "no release could be told"
        return
    yield visible("; ".join(_run(run, letters) for run in one.runs))
    if one.first_bad is not None:
        good = one.last_good or "none"
        yield visible(f"first bad: {one.first_bad}; last good before it: {good}; fixed in: {one.fixed_in or 'none'}")
    for note in one.notes:
        yield visible(note)


def _run(run: Stretch, letters: Mapping[str, LabelledFailure]) -> str:
    label = f" ({letters[run.signature or ''].label})" if run.verdict.bad else ""
    first, last = run.releases[0], run.releases[-1]
    return f"{run.verdict.value} {first if first == last else f'{first} to {last}'}{label}"


def _effort(found: MatrixTable) -> str:
    assert found.bisected is not None
    used = ", ".join(f"{count} for {target}" for target, count in found.bisected.compiles.items())
    return f"bisected {found.bisected.releases} releases; compiles: {used}; at most {found.bisected.budget} each"


def _cells(*texts: str) -> str:
    return f"| {' | '.join(escaped(text) for text in texts)} |"


def _line(console: Console, text: str, style: str = "", indent: int = 0, hanging: int = 0) -> None:
    """A paragraph, wrapped here, because rich would pad every line to the full width."""
    width = max(console.width - indent - hanging, 20)
    for number, line in enumerate(Text(text, style=style).wrap(console, width)):
        line.rstrip()
        console.print(Text(" " * (indent + (hanging if number else 0))) + line, soft_wrap=True)
