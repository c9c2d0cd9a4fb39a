"""The explanation of a rule on the terminal: the verdict, the violations with alternatives, then the numbers."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from triage.legality.explanation import Explanation, RuleTable
from triage.legality.rule import LegalityRule
from triage.legality.violation import spoken
from triage.model.visible import visible
from triage.publish.formats.terminal.console import line, paragraph, section


def rules(console: Console, rules: Iterable[LegalityRule]) -> None:
    """One line a rule."""
    listed = list(rules)
    width = max((len(rule.name) for rule in listed), default=0)
    for rule in listed:
        line(console, f"{rule.name:<{width}}  {rule.title}")
    console.print(Text("\ntriage explain RULE prints the rule's table, and takes numbers: triage explain RULE --help"))


def explanation(console: Console, explained: Explanation) -> None:
    """One explanation, whole."""
    style = {True: "bold green", False: "bold red", None: "bold"}[explained.legal]
    paragraph(console, explained.headline, style=style, indent=0)
    _body(console, explained)
    for change, other in explained.instead:
        section(console, f"Instead: {change}")
        _body(console, other)
    sources = list(dict.fromkeys([*explained.sources, *(violation.source for violation in explained.violations)]))
    if sources:
        section(console, "Source")
        for source in sources:
            paragraph(console, source)


def _body(console: Console, explained: Explanation) -> None:
    for violation in explained.violations:
        paragraph(console, violation.message, style="red", label="x ")
        if violation.allowed:
            text = f"allowed: {spoken(violation.allowed)}"
            if violation.nearest and len(violation.allowed) > 2:
                text += f"; nearest: {spoken(violation.nearest)}"
            paragraph(console, text, indent=4)
    width = max((len(fact.label) for fact in explained.facts), default=0)
    for fact in explained.facts:
        text = fact.text or str(fact.value)
        paragraph(console, text, label=f"{fact.label:<{width}}  ")
    for note in explained.notes:
        paragraph(console, note)
    for drawing in explained.drawings:
        section(console, drawing.title)
        for text in drawing.lines:
            line(console, f"  {text}")
    for table in explained.tables:
        console.print()
        _table(console, table)


def _table(console: Console, table: RuleTable) -> None:
    grid = Grid(
        title=Text(table.title, style="bold"), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for column in table.columns:
        grid.add_column(Text(column), overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(visible(cell)) for cell in row))
    console.print(grid)
