"""The space of a sweep: axes, cells by number, and sets of cells as bits of an integer. Pure.

A set of 864,000 cells is an integer of 108 kB: intersection and union are one operation, and its size is
``bit_count()``. So a condition, what is known and what is predicted are all :data:`CellSet`, and a rule's support is
the size of an intersection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

Cell: TypeAlias = int
"""A cell's number: the last axis runs fastest."""
CellSet: TypeAlias = int
"""Bit *i* is set where cell *i* belongs to the set."""


@dataclass(frozen=True, slots=True)
class SweepAxis:
    """What varies: ``name`` is a constexpr, an argument of the kernel or its constructor, an option, ``target``, or the
    compiler's name (``triton``, ``cute``) for releases. ``values``: JSON values, without repetitions, in the order in
    which they are shown. ``tied``: names that change with it, each with its own values at the same positions."""

    name: str
    values: tuple[Any, ...]
    tied: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, hash=False)

    def changes(self, position: int) -> dict[str, Any]:
        """What the value at this position sets, by name."""
        return {self.name: self.values[position], **{name: values[position] for name, values in self.tied.items()}}

    @property
    def is_numeric(self) -> bool:
        """Whether all of its values are numbers, which have an order; a flag is none."""
        return all(type(value) in (int, float) for value in self.values)


class Grid:
    """All combinations of the axes' values; ``allowed`` are those that are part of the space (every one by default)."""

    def __init__(self, axes: Sequence[SweepAxis], allowed: CellSet | None = None) -> None:
        self.axes = tuple(axes)
        self.size = prod(len(axis.values) for axis in self.axes)
        """Combinations, those that are not allowed among them."""
        self.whole: CellSet = (1 << self.size) - 1
        self.allowed: CellSet = self.whole if allowed is None else allowed
        self._strides = tuple(
            prod(len(axis.values) for axis in self.axes[index + 1 :]) for index in range(len(self.axes))
        )
        self._steps = [(stride, len(axis.values)) for axis, stride in zip(self.axes, self._strides, strict=True)]
        self._sets: dict[tuple[int, int], CellSet] = {}

    def __len__(self) -> int:
        """How many cells are allowed."""
        return self.allowed.bit_count()

    @cached_property
    def varying(self) -> tuple[SweepAxis, ...]:
        """The axes that have more than one value."""
        return tuple(axis for axis in self.axes if len(axis.values) > 1)

    @cached_property
    def positions(self) -> Mapping[str, int]:
        """The position of each axis, by name."""
        return {axis.name: index for index, axis in enumerate(self.axes)}

    def at(self, cell: Cell) -> tuple[int, ...]:
        """The position of the cell's value on each axis."""
        return tuple([cell // stride % count for stride, count in self._steps])

    def number(self, at: Iterable[int]) -> Cell:
        """The cell at these positions."""
        return sum(position * stride for position, stride in zip(at, self._strides, strict=True))

    def values(self, cell: Cell) -> dict[str, Any]:
        """The cell's values by the axes' names."""
        return {axis.name: axis.values[index] for axis, index in zip(self.axes, self.at(cell), strict=True)}

    def with_value(self, axis: int, position: int) -> CellSet:
        """All cells, allowed or not, that have this value on this axis."""
        key = (axis, position)
        if key not in self._sets:
            stride, count = self._strides[axis], len(self.axes[axis].values)
            block = ((1 << stride) - 1) << (position * stride)
            self._sets[key] = _repeated(block, stride * count, self.size // (stride * count))
        return self._sets[key]

    def selected(self, chosen: Mapping[int, Iterable[int]]) -> CellSet:
        """All cells, allowed or not, whose value on each of these axes is among the positions: a box."""
        cells = self.whole
        for axis, positions in chosen.items():
            union = 0
            for position in positions:
                union |= self.with_value(axis, position)
            cells &= union
        return cells

    def neighbours(self, cell: Cell) -> Iterator[Cell]:
        """Allowed cells that differ in the value of one axis: by one step where that is numeric, else by any."""
        at = self.at(cell)
        for index, (axis, stride) in enumerate(zip(self.axes, self._strides, strict=True)):
            for position in range(len(axis.values)):
                near = abs(position - at[index]) == 1 if axis.is_numeric else position != at[index]
                other = cell + (position - at[index]) * stride
                if near and self.allowed >> other & 1:
                    yield other


def cells_of(cells: CellSet) -> Iterator[Cell]:
    """The members of a set, in order. Linear in the set's bits."""
    for offset, byte in enumerate(cells.to_bytes((cells.bit_length() + 7) // 8, "little")):
        if byte:
            yield from (offset * 8 + bit for bit in range(8) if byte >> bit & 1)


def set_of(cells: Iterable[Cell]) -> CellSet:
    """The set with these members. Linear in the largest member's bits."""
    chosen = list(cells)
    bits = bytearray(max(chosen, default=-1) // 8 + 1)
    for cell in chosen:
        bits[cell >> 3] |= 1 << (cell & 7)
    return int.from_bytes(bits, "little")


def _repeated(block: int, width: int, times: int) -> int:
    """``times`` copies of a block of ``width`` bits, one above the other."""
    result, length = 0, 0
    piece, covered = block, 1
    while times:
        if times & 1:
            result |= piece << (length * width)
            length += covered
        times >>= 1
        if times:
            piece |= piece << (covered * width)
            covered *= 2
    return result
