"""The first cells of a sweep: every pair of values at least once, and the corners, which is where failures are. Pure.

A covering array of strength 2 has every pair of two axes' values in some cell. What fails in practice fails where
something is largest or smallest, and only with three or four factors together; so combinations of three axes at their
ends count as well.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

from triage.sweeps.active.draw import draw
from triage.sweeps.grid import Cell, Grid

_CANDIDATES = 48
"""Random cells of which the one with most that is new is taken: as many as greedy generators of covering arrays use
(Cohen et al., AETG: 50)."""

Combination = tuple[tuple[int, int], ...]


class Design:
    """What was seen of combinations of values, and cells with most of what was not. ``corners``: of pairs, and of three
    axes at their ends; else of all pairs, triples and quadruples, since what fails in practice has up to five factors.
    """

    def __init__(self, grid: Grid, rng: random.Random, corners: bool = True) -> None:
        self._grid, self._rng, self._corners = grid, rng, corners
        self._seen: set[Combination] = set()
        self._ends = [
            {0, len(axis.values) - 1} if axis.is_numeric else set(range(len(axis.values))) for axis in grid.axes
        ]
        self._free = [index for index, axis in enumerate(grid.axes) if len(axis.values) > 1]

    def learn(self, cell: Cell) -> None:
        """A cell is compiled."""
        self._seen.update(self._of(cell))

    def novelty(self, cell: Cell) -> int:
        """How many combinations are new in a cell."""
        return sum(combination not in self._seen for combination in self._of(cell))

    def choose(self, among: int) -> tuple[Cell, int, int] | None:
        """A cell of a set with the pairs and the others that are new in it; None where the set is empty."""
        best: tuple[Cell, int, int] | None = None
        for cell in draw(among, _CANDIDATES, self._rng):
            fresh = [len(combination) for combination in self._of(cell) if combination not in self._seen]
            pairs = fresh.count(2)
            if best is None or (pairs, len(fresh)) > (best[1], best[1] + best[2]):
                best = cell, pairs, len(fresh) - pairs
        return best

    def _of(self, cell: Cell) -> Iterator[Combination]:
        at = self._grid.at(cell)
        values = [(axis, at[axis]) for axis in self._free]
        yield from combinations(values, 2)
        if self._corners:
            yield from combinations([(axis, position) for axis, position in values if position in self._ends[axis]], 3)
        else:
            yield from combinations(values, 3)
            yield from combinations(values, 4)
