"""Features: numbers computed from a cell's values, as products, quotients and remainders of axes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations, permutations

from triage.sweeps.columns import Column, Positions, columns, quotient
from triage.sweeps.grid import Grid

_MODULI = (2, 3, 4, 8, 16, 32, 64, 128, 256)


class FeatureKind(IntEnum):
    """How a feature is computed; the more features of a kind there are, the more it costs to name one."""

    AXIS = 0
    PRODUCT = 1
    QUOTIENT = 2
    REMAINDER = 3
    TRIPLE = 4
    PAIR_QUOTIENT = 5


@dataclass(frozen=True, slots=True)
class CellFeature:
    """``text`` is what people read, ``python`` an expression over the names of the ``axes``, and ``of`` the value at
    the positions on these."""

    kind: FeatureKind
    text: str
    python: str
    axes: tuple[int, ...]
    of: Callable[[Positions], float]

    @property
    def is_remainder(self) -> bool:
        """Whether only equality with zero is worth testing."""
        return self.kind is FeatureKind.REMAINDER


def features_of(grid: Grid) -> Iterator[CellFeature]:
    """The features of a grid: each axis that is a number or has one (the width of an element type), products and
    quotients of up to three of them, remainders of one by another or by a small number."""
    # An order alone, and what a target implies, say less than the values.
    every = [column for column in columns(grid) if column.size and grid.axes[column.axis].name != "target"]
    for column in every:
        yield CellFeature(FeatureKind.AXIS, column.name, python(grid, column), (column.axis,), quotient([column]))
        yield from _remainders(grid, column)
    sizes = [column for column in every if min(column.values) > 0]
    numbers = [column for column in sizes if grid.axes[column.axis].is_numeric]
    for pair in combinations(sizes, 2):
        if pair[0].axis != pair[1].axis:
            yield _ratio(grid, FeatureKind.PRODUCT, pair, ())
    for above, below in permutations(numbers, 2):
        if above.axis < below.axis:  # the other is its inverse
            yield _ratio(grid, FeatureKind.QUOTIENT, (above,), (below,))
        if above.axis != below.axis and _is_whole(above) and _is_whole(below):
            text = f"{above.name} % {below.name}"
            expression = f"{python(grid, above)} % {python(grid, below)}"
            yield CellFeature(
                FeatureKind.REMAINDER, text, expression, (above.axis, below.axis), _remainder(above, below)
            )
    for triple in combinations(sizes, 3):
        if len({each.axis for each in triple}) < len(triple):
            continue
        yield _ratio(grid, FeatureKind.TRIPLE, triple, ())
        for below in triple if all(each in numbers for each in triple) else ():
            yield _ratio(grid, FeatureKind.PAIR_QUOTIENT, [each for each in triple if each is not below], (below,))


def python(grid: Grid, column: Column) -> str:
    """An expression for the column's number over the name of its axis."""
    axis = grid.axes[column.axis]
    if axis.is_numeric:
        return axis.name
    numbers = {value: _short(number) for value, number in zip(axis.values, column.values, strict=True)}
    return f"{numbers!r}[{axis.name}]"


def _short(number: float) -> float:
    return int(number) if number == int(number) else number


def _ratio(grid: Grid, kind: FeatureKind, above: Sequence[Column], below: Sequence[Column]) -> CellFeature:
    text = " / ".join([" * ".join(each.name for each in above), *(each.name for each in below)])
    expression = " / ".join([" * ".join(python(grid, each) for each in above), *(python(grid, each) for each in below)])
    return CellFeature(kind, text, expression, tuple(each.axis for each in (*above, *below)), quotient(above, below))


def _remainders(grid: Grid, column: Column) -> Iterator[CellFeature]:
    if not _is_whole(column):
        return
    seen = set()
    for modulus in _MODULI:
        pattern = tuple(value % modulus == 0 for value in column.values)
        if len(set(pattern)) == 2 and pattern not in seen:
            seen.add(pattern)
            text, expression = f"{column.name} % {modulus}", f"{python(grid, column)} % {modulus}"
            yield CellFeature(FeatureKind.REMAINDER, text, expression, (column.axis,), _modulo(column, modulus))


def _is_whole(column: Column) -> bool:
    return all(value == int(value) for value in column.values)


def _remainder(left: Column, right: Column) -> Callable[[Positions], float]:
    return lambda at: left.values[at[0]] % right.values[at[1]]


def _modulo(column: Column, modulus: int) -> Callable[[Positions], float]:
    return lambda at: column.values[at[0]] % modulus
