"""Quantities that predicates test: an axis, a column, a product or a ratio of columns, a predicted quantity. Pure.

A measure is a function of few axes, so the cells in which it has some value are a union of boxes, and it costs the
same for a grid of a thousand cells and of a million.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from math import log2
from typing import TypeVar

from triage.sweeps.columns import Column, columns, quotient
from triage.sweeps.grid import CellSet, Grid


@dataclass(frozen=True, slots=True)
class Measure:
    """``value``: of the positions on ``axes``. ``ordered``: predicates compare with a threshold, else with a value.
    ``bits``: the cost of naming it among all measures as simple."""

    name: str
    axes: tuple[int, ...]
    value: Callable[[tuple[int, ...]], Hashable]
    ordered: bool
    bits: float
    values: tuple[Hashable, ...] | None = None
    """All of its values, where they are known without asking every combination of positions."""
    resource: str | None = None
    """The resource whose limit it predicts, which says nothing of other failures; these come first."""

    def at(self, positions: Sequence[int]) -> Hashable:
        """The value at a cell's positions."""
        return self.value(tuple(positions[axis] for axis in self.axes))


class MeasureBoxes:
    """The cells of each value of a measure, computed on demand."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._sets: dict[str, dict[Hashable, CellSet]] = {}

    def by_value(self, measure: Measure) -> dict[Hashable, CellSet]:
        """Value → all cells, allowed or not, that have it."""
        if measure.name not in self._sets:
            self._sets[measure.name] = by_value(self._grid, measure.axes, measure.value)
        return self._sets[measure.name]

    def put(self, measure: Measure, cells: dict[Hashable, CellSet]) -> None:
        """The cells of a measure of this name, in place of those that it had."""
        self._sets[measure.name] = cells


_Value = TypeVar("_Value", bound=Hashable)


def by_value(grid: Grid, axes: Sequence[int], value: Callable[[tuple[int, ...]], _Value]) -> dict[_Value, CellSet]:
    """Value at positions on these axes → all cells, allowed or not, that have it."""
    sets: dict[_Value, CellSet] = {}

    def descend(depth: int, at: tuple[int, ...], cells: CellSet) -> None:
        if depth == len(axes):
            key = value(at)
            sets[key] = sets.get(key, 0) | cells
            return
        axis = axes[depth]
        for position in range(len(grid.axes[axis].values)):
            descend(depth + 1, (*at, position), cells & grid.with_value(axis, position))

    descend(0, (), grid.whole)
    return sets


def measures(grid: Grid) -> list[Measure]:
    """Every measure that needs no observation, the simplest first. The cost of naming one is the logarithm of how many
    there are of its kind and simpler, so that a product is chosen where it says more than two plain predicates."""
    every: list[Measure] = []
    numeric = columns(grid)
    for kind in (_plain(grid, numeric), _pairs(grid, numeric), _triples(numeric)):
        fresh = list(kind)
        bits = log2(max(2, len(every) + len(fresh)))
        every += [Measure(name, axes, value, ordered, bits) for name, axes, value, ordered in fresh]
    return every


_Drawn = tuple[str, tuple[int, ...], Callable[[tuple[int, ...]], Hashable], bool]


def _plain(grid: Grid, numeric: Sequence[Column]) -> Iterator[_Drawn]:
    for index, axis in enumerate(grid.axes):
        if len(axis.values) > 1:
            yield f"={axis.name}", (index,), lambda at: at[0], False
    for column in numeric:
        yield column.name, (column.axis,), quotient([column]), True


def _pairs(grid: Grid, numeric: Sequence[Column]) -> Iterator[_Drawn]:
    for (first, left), (second, right) in combinations(enumerate(grid.axes), 2):
        shared = set(map(repr, left.values)) & set(map(repr, right.values))
        if len(shared) > 1 and not (left.is_numeric and right.is_numeric):
            yield f"{left.name}=={right.name}", (first, second), _same(left.values, right.values), False
    sizes = [column for column in numeric if column.size]
    for a, b in combinations(sizes, 2):
        if a.axis != b.axis:
            yield _drawn((a, b), ())
            yield _drawn((a,), (b,))


def _same(left: Sequence[object], right: Sequence[object]) -> Callable[[tuple[int, ...]], Hashable]:
    return lambda at: repr(left[at[0]]) == repr(right[at[1]])


def _triples(numeric: Sequence[Column]) -> Iterator[_Drawn]:
    sizes = [column for column in numeric if column.size]
    for chosen in combinations(sizes, 3):
        if len({column.axis for column in chosen}) == 3:
            yield _drawn(chosen, ())
            for a, b, c in permutations(chosen):
                if a.axis < b.axis:
                    yield _drawn((a, b), (c,))


def _drawn(above: Sequence[Column], below: Sequence[Column]) -> _Drawn:
    """The ratio of two products of columns."""
    name = "*".join(column.name for column in above) + "".join(f"/{column.name}" for column in below)
    return name, tuple(column.axis for column in (*above, *below)), quotient(above, below), True
