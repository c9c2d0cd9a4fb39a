"""Predicates on cells, and what each says of the cells that were compiled. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from triage.sweeps.active.measures import Measure, MeasureBoxes
from triage.sweeps.columns import positions_of
from triage.sweeps.grid import Cell, CellSet, Grid


class Comparing(Enum):
    """How a predicate compares its measure with its value."""

    EQUAL = "="
    DIFFERENT = "!="
    AT_MOST = "<="
    ABOVE = ">"


@dataclass(frozen=True, slots=True)
class Predicate:
    """One test of a cell. ``bits``: what it costs to state it."""

    measure: Measure
    comparison: Comparing
    value: Any
    bits: float

    def __str__(self) -> str:
        return f"{self.measure.name} {self.comparison.value} {self.value}"

    def cells(self, boxes: MeasureBoxes) -> CellSet:
        """All cells, allowed or not, that pass."""
        cells = 0
        for value, box in boxes.by_value(self.measure).items():
            if self._passes(value):
                cells |= box
        return cells

    def holds(self, at: Sequence[int]) -> bool:
        """Whether the cell at these positions passes."""
        return self._passes(self.measure.at(at))

    def _passes(self, value: Any) -> bool:
        match self.comparison:
            case Comparing.EQUAL:
                return bool(value == self.value)
            case Comparing.DIFFERENT:
                return bool(value != self.value)
            case Comparing.AT_MOST:
                return bool(value <= self.value)
            case Comparing.ABOVE:
                return bool(value > self.value)


class Sample:
    """The compiled cells, each with a number, and which of them have which value of a measure: sets of numbers, as
    bits."""

    def __init__(self, grid: Grid, measures: Iterable[Measure]) -> None:
        self._grid = grid
        self.cells: list[Cell] = []
        self._rows: list[_MeasureRow] = []
        for measure in measures:
            self.add_measure(measure)

    def add_measure(self, measure: Measure) -> None:
        """Take a measure into account from now on."""
        row = _MeasureRow(measure, _values(self._grid, measure))
        for number, cell in enumerate(self.cells):
            row.add(number, self._grid.at(cell))
        self._rows.append(row)

    def replace_measure(self, measure: Measure) -> bool:
        """Take a measure into account in place of the one of the same name; whether there was none."""
        others = [row for row in self._rows if row.measure.name != measure.name]
        is_first, self._rows = len(others) == len(self._rows), others
        self.add_measure(measure)
        return is_first

    def add(self, cell: Cell) -> None:
        """One more compiled cell."""
        at = self._grid.at(cell)
        for row in self._rows:
            row.add(len(self.cells), at)
        self.cells.append(cell)

    def predicates(self) -> Iterable[tuple[Predicate, int]]:
        """Every predicate, with the numbers of the compiled cells that pass it."""
        whole = (1 << len(self.cells)) - 1
        for row in self._rows:
            below = 0
            for predicate in row.predicates:
                match predicate.comparison:
                    case Comparing.EQUAL:
                        yield predicate, row.members.get(predicate.value, 0)
                    case Comparing.DIFFERENT:
                        yield predicate, whole & ~row.members.get(predicate.value, 0)
                    case Comparing.AT_MOST:
                        below |= row.members.get(predicate.value, 0)
                        yield predicate, below
                    case Comparing.ABOVE:
                        yield predicate, whole & ~below


class _MeasureRow:
    """A measure, its predicates in the order of its values, and the compiled cells by value."""

    def __init__(self, measure: Measure, values: Sequence[Any]) -> None:
        self.measure = measure
        self.members: dict[Hashable, int] = {}
        self.predicates: list[Predicate] = []
        kinds = (Comparing.AT_MOST, Comparing.ABOVE) if measure.ordered else (Comparing.EQUAL, Comparing.DIFFERENT)
        # The last threshold divides nothing, and of two values the one differs where the other is equal.
        values = values[:-1] if measure.ordered else values
        bits = measure.bits + _log2(2 * len(values))
        for value in values:
            for kind in kinds if measure.ordered or len(values) > 2 else kinds[:1]:
                self.predicates.append(Predicate(measure, kind, value, bits))

    def add(self, number: int, at: Sequence[int]) -> None:
        value = self.measure.at(at)
        self.members[value] = self.members.get(value, 0) | 1 << number


def _log2(count: int) -> float:
    return float(max(1, count).bit_length() - 1)


def _values(grid: Grid, measure: Measure) -> list[Any]:
    if measure.values is not None:
        return list(measure.values)
    values: set[Any] = {measure.value(at) for at in positions_of(grid, measure.axes)}
    return sorted(values)
