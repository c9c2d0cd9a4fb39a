"""What compiled cells say of larger and smaller ones: a larger tile never uses less of a resource. Pure.

Numbers of compiled cells bound those of others: what is over a limit is so with every larger extent, and what is within
it with every smaller one. Values without an order (flags, targets, releases) count as equal until compiled cells
contradict that; then the cells are divided by an axis until nothing contradicts in any part. So one compile answers for
the limits of all targets on which the same number was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triage.sweeps.active.pieces import Sized
from triage.sweeps.columns import Column
from triage.sweeps.grid import CellSet, Grid

_TOLERANCE = 0.005
"""Relative difference that is none: alignment and barriers."""


@dataclass(frozen=True, slots=True)
class OrderedPart:
    """Part of the grid in which no compiled cell contradicts the order: for each axis the positions that belong to it,
    and its rows, by their numbers."""

    positions: tuple[frozenset[int], ...]
    rows: int

    def has(self, at: Sequence[int]) -> bool:
        """Whether the cell at these positions belongs to it."""
        return all(position in positions for position, positions in zip(at, self.positions, strict=True))


class Order:
    """The partial order of a grid's cells by the columns of each axis."""

    def __init__(self, grid: Grid, columns: Sequence[Column]) -> None:
        self._grid = grid
        self._upper = [
            _upper([column.values for column in columns if column.axis == index and column.size], len(axis.values))
            for index, axis in enumerate(grid.axes)
        ]
        """By axis and position: the positions whose number is as large or larger."""
        self._lower = [
            [frozenset(other for other in range(len(upper)) if at in upper[other]) for at in range(len(upper))]
            for upper in self._upper
        ]

    def parts(self, rows: Sequence[Sized], floor: float) -> list[OrderedPart]:
        """A division in whose parts no row has a smaller number than one that is not larger. Numbers below ``floor``
        count as equal."""
        numbers = [max(row.number, floor) for row in rows]
        whole = OrderedPart(tuple(frozenset(range(len(axis.values))) for axis in self._grid.axes), (1 << len(rows)) - 1)
        at = self._rows_by_value(rows)
        contradicting = list(self._contradictions(rows, numbers, at))
        return list(self._divided(whole, at, contradicting))

    def above(self, part: OrderedPart, at: Sequence[int]) -> CellSet:
        """The cells of a part that use as much as the cell at these positions or more."""
        return self._box(self._upper, part, at)

    def below(self, part: OrderedPart, at: Sequence[int]) -> CellSet:
        """The cells of a part that use as much as the cell at these positions or less."""
        return self._box(self._lower, part, at)

    def _box(self, sides: Sequence[Sequence[frozenset[int]]], part: OrderedPart, at: Sequence[int]) -> CellSet:
        return self._grid.selected(
            {
                axis: side[position] & positions
                for axis, (side, position, positions) in enumerate(zip(sides, at, part.positions, strict=True))
                if len(side[position] & positions) < len(self._grid.axes[axis].values)
            }
        )

    def _rows_by_value(self, rows: Sequence[Sized]) -> list[list[int]]:
        by_value = [[0] * len(axis.values) for axis in self._grid.axes]
        for number, row in enumerate(rows):
            for axis, position in enumerate(row.at):
                by_value[axis][position] |= 1 << number
        return by_value

    def _contradictions(
        self, rows: Sequence[Sized], numbers: Sequence[float], by_value: Sequence[Sequence[int]]
    ) -> Iterator[int]:
        """For each row those that are as large or larger and have a smaller number."""
        ranked = sorted(range(len(rows)), key=numbers.__getitem__)
        smaller, count = [0] * len(rows), 0
        members = 0
        for index in ranked:
            while numbers[ranked[count]] < numbers[index] * (1 - _TOLERANCE):
                members |= 1 << ranked[count]
                count += 1
            smaller[index] = members
        for index, row in enumerate(rows):
            cells = smaller[index]
            for axis, position in enumerate(row.at):
                if not cells:
                    break
                larger = 0
                for other in self._upper[axis][position]:
                    larger |= by_value[axis][other]
                cells &= larger
            yield cells

    def _divided(
        self, part: OrderedPart, by_value: Sequence[Sequence[int]], contradicting: Sequence[int]
    ) -> Iterator[OrderedPart]:
        pairs = [(index, others & part.rows) for index, others in enumerate(contradicting) if part.rows >> index & 1]
        pairs = [(index, others) for index, others in pairs if others]
        if not pairs:
            yield part
            return
        best: tuple[int, int, frozenset[int]] | None = None
        for axis, chosen in self._divisions(part):
            inside = 0
            for position in chosen:
                inside |= by_value[axis][position]
            left = sum((others & (inside if inside >> index & 1 else ~inside)).bit_count() for index, others in pairs)
            if best is None or left < best[0]:
                best = left, axis, chosen
        if best is None:
            yield part
            return
        _, axis, chosen = best
        for positions in (chosen, part.positions[axis] - chosen):
            rows = 0
            for position in positions:
                rows |= by_value[axis][position]
            divided = (*part.positions[:axis], positions, *part.positions[axis + 1 :])
            yield from self._divided(OrderedPart(divided, part.rows & rows), by_value, contradicting)

    def _divisions(self, part: OrderedPart) -> Iterator[tuple[int, frozenset[int]]]:
        """Values apart from the others of their axis; of numbers those up to one."""
        for index, (axis, positions) in enumerate(zip(self._grid.axes, part.positions, strict=True)):
            ordered = sorted(positions)
            if axis.is_numeric:
                ordered.sort(key=lambda position: float(self._grid.axes[index].values[position]))
                yield from ((index, frozenset(ordered[:count])) for count in range(1, len(ordered)))
            elif len(ordered) > 1:
                yield from (
                    (index, frozenset({position})) for position in (ordered if len(ordered) > 2 else ordered[:1])
                )


def _upper(columns: Sequence[tuple[float, ...]], count: int) -> list[frozenset[int]]:
    return [
        frozenset(other for other in range(count) if all(column[other] >= column[at] for column in columns))
        for at in range(count)
    ]
