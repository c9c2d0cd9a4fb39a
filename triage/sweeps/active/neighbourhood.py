"""One-factor experiments: what a rule says of the cells beside its failures, and has not been asked yet. Pure."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

from triage.sweeps.active.draw import draw
from triage.sweeps.grid import Cell, CellSet, Grid

_ANCHORS = 6
"""Failing cells of a rule that are varied: a rule's predicates are the same for each of them."""

_DRAWN = 24


def experiments(grid: Grid, failing: Sequence[Cell], compiled: CellSet, others: CellSet) -> Iterator[Cell]:
    """Cells that differ from a failing cell of a rule in one value, each a value that no such pair has shown yet.

    ``others``: cells in which other failures are expected, which would hide this one. On an axis of numbers the values
    are the next ones beyond those that fail, and the ends; else all.
    """
    anchors = failing[-_ANCHORS:]
    possible = grid.allowed & ~others
    positions = [grid.at(cell) for cell in failing]
    for index, axis in enumerate(grid.axes):
        failed = {at[index] for at in positions}
        untried = set(range(len(axis.values))) - failed
        if axis.is_numeric:
            low, high = min(failed), max(failed)
            untried &= {low - 1, high + 1, 0, len(axis.values) - 1}
        for position in sorted(untried):
            pairs = [_moved(grid, cell, index, position) for cell in anchors]
            pairs = [cell for cell in pairs if possible >> cell & 1]
            if pairs and not any(compiled >> cell & 1 for cell in pairs):
                yield pairs[position % len(pairs)]


def unusual(grid: Grid, failing: Sequence[Cell], cells: CellSet, rng: random.Random) -> Cell | None:
    """A cell in which a rule holds, with most pairs of values that none of the rule's failing cells has, and of equal
    ones most triples."""
    seen = {group for cell in failing for group in _groups(grid, cell)}

    def fresh(cell: Cell) -> tuple[int, int]:
        groups = [len(group) for group in _groups(grid, cell) if group not in seen]
        return groups.count(2), len(groups)

    return max(draw(cells, _DRAWN, rng), key=fresh, default=None)


def _groups(grid: Grid, cell: Cell) -> Iterator[tuple[tuple[int, int], ...]]:
    at = [(axis, position) for axis, position in enumerate(grid.at(cell)) if len(grid.axes[axis].values) > 1]
    for size in (2, 3):
        yield from combinations(at, size)


def _moved(grid: Grid, cell: Cell, axis: int, position: int) -> Cell:
    at = list(grid.at(cell))
    at[axis] = position
    return grid.number(at)
