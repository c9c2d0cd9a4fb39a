"""Which axes matter: where the result changes as nothing but the value on one axis does. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from triage.sweeps.grid import CellSet, Grid


@dataclass(frozen=True, slots=True)
class AxisInfluence:
    """Of the lines of cells that differ in the value on one axis alone: those with at least two neighbours of which
    the result is known (``lines``), and those of them along which it changes (``changing``)."""

    lines: int
    changing: int

    @property
    def share(self) -> float:
        """The part of the lines along which the result changes; 0 where none is known."""
        return self.changing / self.lines if self.lines else 0.0


def influence(grid: Grid, results: Iterable[CellSet]) -> tuple[AxisInfluence, ...]:
    """The influence of each axis. ``results``: sets without common cells, one for each result, such as legal and each
    failure; a cell in none of them is unknown."""
    classes = tuple(results)
    known = 0
    for cells in classes:
        known |= cells
    stride, measured = grid.size, []
    for index, axis in enumerate(grid.axes):
        count = len(axis.values)
        stride //= count
        paired = known & known >> stride & ~grid.with_value(index, count - 1)
        different = 0
        for cells in classes:
            different |= (cells ^ cells >> stride) & paired
        measured.append(
            AxisInfluence(*(_lines(grid, index, stride, pairs).bit_count() for pairs in (paired, different)))
        )
    return tuple(measured)


def _lines(grid: Grid, axis: int, stride: int, cells: CellSet) -> CellSet:
    """The first cell of every line along the axis that has one of the cells."""
    first, lines = grid.with_value(axis, 0), 0
    for position in range(len(grid.axes[axis].values)):
        lines |= cells >> position * stride & first
    return lines
