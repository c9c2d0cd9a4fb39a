"""Estimated beside measured times, on the terminal."""

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from triage.model.visible import visible
from triage.model.words import count, unit
from triage.performance.agreement import Agreement, ModelRow, ModelTable, ModelTables
from triage.publish.formats.terminal.console import line, paragraph, section
from triage.publish.words import settings

_MOST_ROWS = 8


def tables(console: Console, bench: ModelTables) -> None:
    """Each kernel's first choices of the model, then how far they agree with the measurement."""
    paragraph(console, f"Measured on {bench.device}, Triton {bench.triton}", style="bold", indent=0)
    for table in bench.kernels:
        section(console, str(table.case))
        _rows(console, table)
    section(console, "Agreement of model and measurement")
    _summary(console, bench)
    line(console, "")
    paragraph(
        console,
        "Rank correlation is Spearman's. First choice: the time of the configuration that the model puts first, as a "
        "multiple of the fastest one measured; best of 3: of the best of its first three.",
        style="dim",
    )


def _rows(console: Console, table: ModelTable) -> None:
    timed = [row for row in table.rows if row.measured_ms is not None]
    ordered = sorted(timed, key=lambda row: (row.expected_ms is None, row.expected_ms or 0.0))
    grid = _grid("expected", "measured", "bound by", "configuration")
    for row in ordered[:_MOST_ROWS]:
        grid.add_row(*map(Text, (_ms(row.expected_ms), _ms(row.measured_ms), _bound(row), _name(row))))
    console.print(grid)
    if len(ordered) > _MOST_ROWS:
        paragraph(console, f"… and {len(ordered) - _MOST_ROWS} more (--json)", style="dim")
    problems: dict[str, int] = {}
    for row in table.rows:
        if row.problem:
            problems[row.problem] = problems.get(row.problem, 0) + 1
    for problem, number in problems.items():
        paragraph(console, f"{count(number, 'configuration')}: {problem}", style="dim")


def _summary(console: Console, bench: ModelTables) -> None:
    grid = _grid("", "configurations", "rank correlation", "first choice", "best of 3")
    for table in bench.kernels:
        grid.add_row(*_cells(str(table.case), table.agreement))
    if len(bench.kernels) > 1:
        grid.add_row(*_cells("median", bench.overall))
        worst = "" if bench.worst is None else f"{bench.worst:.2f}"
        grid.add_row("worst", "", "", worst, "")
    console.print(grid)


def _cells(name: str, agreement: Agreement | None) -> tuple[str, ...]:
    if agreement is None:
        return visible(name), "too few", "", "", ""
    correlation = "" if agreement.correlation is None else f"{agreement.correlation:.2f}"
    return (
        visible(name),
        str(agreement.configurations),
        correlation,
        f"{agreement.first:.2f}",
        f"{agreement.first_three:.2f}",
    )


def _grid(*columns: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        grid.add_column(column, overflow="fold")
    return grid


def _ms(amount: float | None) -> str:
    return "" if amount is None else f"{amount:.4g} ms"


def _bound(row: ModelRow) -> str:
    return unit(row.bound_by) if row.bound_by else ""


def _name(row: ModelRow) -> str:
    return visible(settings(row.changes)) or "as the case is"
