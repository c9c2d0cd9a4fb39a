"""A sweep's map on the terminal: one slice as grids of letters, the failures, the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from triage.model.visible import shortened
from triage.model.words import count
from triage.publish.compose.sweep import SweepView
from triage.publish.compose.sweep_layout import MIXED, SliceView
from triage.publish.compose.sweep_list import failing
from triage.publish.compose.sweep_parts import CellLook
from triage.publish.formats.terminal.console import line, paragraph, section
from triage.sweeps.observation import CellState
from triage.sweeps.space import CONFIGURATION

_COLOURS = ("red", "magenta", "yellow", "blue", "cyan")
"""Of the letters, in turn; the letters themselves tell failures apart."""
_MOST_HEAD = 14
"""Characters of a value over a column."""
_MOST_ROWS = 40
"""Rows of a grid; a list of configurations has thousands."""
_MOST_PIECES = 16
"""Grids; a target and release each."""
_MOST_REASONS = 3


def show(console: Console, view: SweepView) -> None:
    """Print the map. It fits any width: grids side by side, then below one another, then in parts."""
    paragraph(console, view.headline, style="bold", indent=0)
    for fact in view.facts():
        paragraph(console, fact, indent=0)
    if CONFIGURATION in view.grid.positions:
        _configurations(console, view)
    elif any(axis.matters for axis in view.axes):
        _slice(console, view)
    _failures(console, view)
    if view.map.rules:
        section(console, "Rules")
        for rule in view.map.rules:
            text, evidence = view.rule(rule)
            paragraph(console, text, hanging=2, label=f"{rule.failure or ' '}  ")
            paragraph(console, evidence, style="dim", indent=5)
    console.print()
    line(console, f"Again: {view.again}", style="dim")


def _slice(console: Console, view: SweepView) -> None:
    shown = SliceView(view)
    if shown.words:
        console.print()
        paragraph(console, f"Shown: {shown.words}. Other values are in map.html.", indent=0)
    signs = _grids(console, view, shown)
    console.print()
    paragraph(console, "   ".join(_legend(view, signs)), style="dim", indent=0)


def _configurations(console: Console, view: SweepView) -> None:
    """Print the configurations of a list that fail."""
    every = list(failing(view))
    if every:
        console.print()
    for each in every[:_MOST_ROWS]:
        text = f"{each.name}: {each.where}" if each.where else each.name
        paragraph(console, text, indent=0, hanging=2, label=f"{each.sign}  ")
    if (hidden := len(every) - _MOST_ROWS) > 0:
        paragraph(console, f"{hidden:,} more are in map.html.", indent=0, style="dim")


@dataclass(frozen=True, slots=True)
class _Part:
    """Some columns of a small multiple: their title and heads, and the cells of each row."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[CellLook | str, ...], ...]
    column: int

    @property
    def width(self) -> int:
        return max(len(self.title), self.column * len(self.heads))


def _grids(console: Console, view: SweepView, shown: SliceView) -> set[CellLook | str]:
    """Print all small multiples, as many beside one another as fit. The signs that they have."""
    values = shown.labels(shown.shape.rows)
    heads = [min(len(head), _MOST_HEAD) + 2 for head in shown.labels(shown.shape.columns)]
    labels = _fitting(values[:_MOST_ROWS], max(console.width // 2, console.width - 2 - max(heads) * len(heads), 8))
    left = max(map(len, [shown.rows, *labels])) + 2
    pieces = list(_pieces(view, shown, len(labels), max(console.width - left, 8)))
    beside = _beside([piece.width + 2 for piece in pieces], console.width + 2 - left, shown.repeats)
    for first in range(0, min(len(pieces), _MOST_PIECES), beside):
        _band(console, pieces[first : first + beside], left, shown, labels)
    if (hidden := len(pieces) - _MOST_PIECES) > 0:
        paragraph(console, f"{count(f'{hidden:,}', 'more grid')} in map.html.", indent=0, style="dim")
    if (hidden := len(values) - len(labels)) > 0:
        more = count(f"{hidden:,}", "more value")
        paragraph(console, f"{more} of {shown.rows} in map.html.", indent=0, style="dim")
    return {sign for piece in pieces for row in piece.rows for sign in row}


def _fitting(labels: Sequence[str], width: int) -> list[str]:
    """The labels in this width: their beginnings, or their ends where these tell more of them apart."""
    begun = [shortened(label, width) for label in labels]
    ended = [label if len(label) <= width else f"\u2026{label[1 - width :]}" for label in labels]
    return max(begun, ended, key=lambda cut: len(set(cut)))


def _beside(widths: Sequence[int], room: int, repeats: int) -> int:
    """How many pieces of these widths fit beside one another: whole groups of ``repeats`` where one fits."""
    fit = max(room // max(widths, default=1), 1)
    return fit - fit % repeats if fit >= repeats else fit


def _pieces(view: SweepView, shown: SliceView, rows: int, room: int) -> Iterator[_Part]:
    heads = tuple(_fitting(shown.labels(shown.shape.columns), _MOST_HEAD))
    column = max(*map(len, (*heads, *view.map.letters.values())), 1) + 2
    most = max(room // column, 1)
    for title, panel in shown.panels():
        for first in range(0, len(heads), most):
            part = range(first, min(first + most, len(heads)))
            cells = tuple(tuple(shown.cell(panel, row, each) for each in part) for row in range(rows))
            yield _Part(shortened(title, room), heads[part.start : part.stop], cells, column)


def _band(console: Console, band: list[_Part], left: int, shown: SliceView, labels: list[str]) -> None:
    """Print small multiples beside one another, with the names of their rows on the left."""
    console.print()
    for texts, style in (([piece.title for piece in band], "bold"), ([shown.columns] * len(band), "dim")):
        if any(texts):
            joined = "".join(f"{text:<{piece.width + 2}}" for text, piece in zip(texts, band, strict=True))
            line(console, (" " * left + joined).rstrip(), style)
    heads = ("".join(f"{head:<{piece.column}}" for head in piece.heads).ljust(piece.width + 2) for piece in band)
    line(console, f"{shown.rows:<{left}}{''.join(heads)}".rstrip(), style="bold")
    for number, label in enumerate(labels):
        text = Text(f"{label:<{left}}")
        for piece in band:
            for cell in piece.rows[number]:
                text.append(f"{cell if isinstance(cell, str) else cell.sign:<{piece.column}}", _style(cell))
            text.append(" " * (piece.width + 2 - piece.column * len(piece.heads)))
        text.rstrip()
        console.print(text, soft_wrap=True)


def _style(cell: CellLook | str) -> str:
    if isinstance(cell, str):
        return "yellow"
    match cell.state:
        case CellState.COMPILED:
            return "green"
        case CellState.PREDICTED_LEGAL:
            return "dim green"
        case CellState.FAILED:
            return f"bold {_colour(cell)}"
        case CellState.PREDICTED_ILLEGAL:
            return f"dim {_colour(cell)}"
        case _:
            return "dim"


def _colour(cell: CellLook) -> str:
    number = 0
    for letter in cell.letter or "A":
        number = number * 26 + ord(letter) - ord("A") + 1
    return _COLOURS[(number - 1) % len(_COLOURS)]


def _legend(view: SweepView, signs: set[CellLook | str]) -> Iterator[str]:
    """What the signs of the grids mean; letters as such, as their headlines are below."""
    meanings = {
        CellState.COMPILED: "compiles",
        CellState.PREDICTED_LEGAL: "predicted to compile",
        CellState.FAILED: "fails",
        CellState.PREDICTED_ILLEGAL: "predicted to fail",
        CellState.UNTOLD: "could not be told",
        None: "neither compiled nor predicted",
    }
    for state, words in meanings.items():
        shown = sorted({sign.sign for sign in signs if isinstance(sign, CellLook) and sign.state is state})
        if shown:
            yield f"{' '.join(shown[:3])}{' ...' if len(shown) > 3 else ''} {words}"
    if MIXED in signs:
        yield f"{MIXED} differs along an axis that is not shown"


def _failures(console: Console, view: SweepView) -> None:
    for failure in view.failures:
        console.print()
        paragraph(console, failure.headline, style="red", indent=0, label=f"{failure.letter}  ")
        paragraph(console, f"cells: {failure.cells}", indent=3)
        for match in failure.matches[:1]:
            line(console, f"   known: triage kb show {match.id}")
        if failure.example is not None:
            line(console, f"   {view.command(failure.example)}", style="dim")
    if view.reasons:
        console.print()
        line(console, "could not tell", style="bold")
        for reason, number in [*view.reasons.items()][:_MOST_REASONS]:
            paragraph(console, f"{number:,}: {reason}", hanging=2)
