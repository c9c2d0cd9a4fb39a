"""Where compiles are slowest, as time-outs are there. Pure.

The time of a compile grows by factors: a larger tile, fewer warps, another target each multiply it. So its logarithm is
modelled as a sum with one term for each value of each axis, and a cell is expected to take as long as a slow one that
differs in one value, times the ratio of both values' factors. That leads from compiles that take seconds to those that
would take minutes, even though the factors depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from math import exp, log

from triage.sweeps.grid import Cell, CellSet, Grid

SLOW = 40.0
"""Seconds: what is expected to take longer may run into a time limit (120 by default), as the factors of values are
means over cells in which most of the time is that of starting a compiler."""
_SWEEPS = 6
"""Of the fit: the effects of axes that were drawn nearly independently settle in few."""
_LATEST = 256
"""Compiles that the factors are estimated from."""
_ANCHORS = 6
"""Slowest compiles, whose neighbours are looked at."""


class Slowness:
    """The times of compiled cells."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._rows: list[tuple[float, Cell]] = []

    def learn(self, cell: Cell, seconds: float) -> None:
        """A cell was compiled, or reached a time limit, in so many seconds."""
        self._rows.append((seconds, cell))

    def slowest(self, cells: CellSet) -> Cell | None:
        """The cell that is expected to take longest, if that is long and longer than a compile beside it took."""
        anchors = nlargest(_ANCHORS, self._rows)
        if not anchors or anchors[0][0] < SLOW / 8:
            return None
        factors = self._factors(self._rows[-_LATEST:])
        expected: dict[Cell, float] = {}
        for seconds, cell in anchors:
            at = list(self._grid.at(cell))
            for axis, (position, factor) in enumerate(zip(at, factors, strict=True)):
                for other, its in enumerate(factor):
                    neighbour = self._grid.number([*at[:axis], other, *at[axis + 1 :]])
                    if its > factor[position] and cells >> neighbour & 1:
                        slow = seconds * exp(its - factor[position])
                        expected[neighbour] = max(slow, expected.get(neighbour, SLOW))
        return max((cell for cell, slow in expected.items() if slow > SLOW), key=expected.__getitem__, default=None)

    def _factors(self, rows: Sequence[tuple[float, Cell]]) -> list[list[float]]:
        """The logarithm of the factor of each value, by axis and position: by backfitting, each shrunk as if there were
        one more row without it."""
        times = [log(max(seconds, 0.01)) for seconds, _ in rows]
        mean = sum(times) / len(times)
        rest = [time - mean for time in times]
        positions = list(zip(*(self._grid.at(cell) for _, cell in rows), strict=True))
        factors = [[0.0] * len(axis.values) for axis in self._grid.axes]
        for _ in range(_SWEEPS):
            for axis, at in enumerate(positions):
                old = factors[axis]
                sums, counts = [0.0] * len(old), [1] * len(old)
                for left, position in zip(rest, at, strict=True):
                    sums[position] += left + old[position]
                    counts[position] += 1
                fresh = [total / count for total, count in zip(sums, counts, strict=True)]
                rest = [left + old[position] - fresh[position] for left, position in zip(rest, at, strict=True)]
                factors[axis] = fresh
        return factors
