"""The explanation of a rule on the terminal: the verdict, the violations with alternatives, then the numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from triage.legality.explanation import Explanation, RuleTable
from triage.legality.rule import LegalityRule
from triage.legality.violation import Violation, spoken
from triage.publish.visible import visible


def rules(console: Console, rules: Iterable[LegalityRule]) -> None:
    """One line a rule."""
    listed = list(rules)
    width = max((len(rule.name) for rule in listed), default=0)
    for rule in listed:
        console.print(Text(f"{rule.name:<{width}}  {rule.title}"), soft_wrap=True)
    console.print(Text("\ntriage explain RULE prints the rule's table, and takes numbers: triage explain RULE --help"))


def explanation(console: Console, explained: Explanation) -> None:
    """One explanation, whole."""
    _body(console, explained)
    for change, other in explained.instead:
        _line(console, "")
        _line(console, f"Instead: {change}", "bold")
        _body(console, other, headline=False, sources=False)
    sources = list(dict.fromkeys([*explained.sources, *(violation.source for violation in explained.violations)]))
    if sources:
        _line(console, "")
        _line(console, "Source", "bold")
        for source in sources:
            _wrapped(console, source, "  ")


def _body(console: Console, explained: Explanation, headline: bool = True, sources: bool = True) -> None:
    if headline:
        style = {True: "bold green", False: "bold red", None: "bold"}[explained.legal]
        for line in textwrap.wrap(visible(explained.headline), console.width):
            _line(console, line, style)
    for violation in explained.violations:
        _violation(console, violation)
    width = max((len(fact.label) for fact in explained.facts), default=0)
    for fact in explained.facts:
        text = fact.text or str(fact.value)
        _wrapped(console, text, "  ", first=f"  {fact.label:<{width}}  ", hang=width + 4)
    for note in explained.notes:
        _wrapped(console, note, "  ")
    for drawing in explained.drawings:
        _line(console, "")
        _line(console, drawing.title, "bold")
        for line in drawing.lines:
            _line(console, f"  {line}")
    for table in explained.tables:
        _line(console, "")
        _table(console, table)


def _violation(console: Console, violation: Violation) -> None:
    _wrapped(console, violation.message, "    ", first="  x ", style="red")
    if violation.allowed:
        text = f"allowed: {spoken(violation.allowed)}"
        if violation.nearest and len(violation.allowed) > 2:
            text += f"; nearest: {spoken(violation.nearest)}"
        _wrapped(console, text, "    ")


def _table(console: Console, table: RuleTable) -> None:
    grid = Grid(
        title=Text(table.title, style="bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in table.columns:
        grid.add_column(Text(column), overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(visible(cell)) for cell in row))
    console.print(grid)


def _wrapped(
    console: Console, text: str, indent: str, first: str | None = None, hang: int | None = None, style: str = ""
) -> None:
    later = " " * hang if hang is not None else indent
    lines = textwrap.wrap(
        visible(text),
        max(console.width, 40),
        initial_indent=indent if first is None else first,
        subsequent_indent=later,
        break_on_hyphens=False,
    )
    for line in lines:
        _line(console, line, style)


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(visible(text), style=style), soft_wrap=True)
