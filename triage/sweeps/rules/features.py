"""Features: numbers that are made of a cell's values, as products, quotients and remainders of axes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations, permutations, product
from math import prod
from typing import Any, TypeAlias

from triage.sweeps.grid import Grid, SweepAxis

Values: TypeAlias = Mapping[str, Any]
"""A cell's values by the axes' names."""
_MODULI = (2, 3, 4, 8, 16, 32, 64, 128, 256)


class FeatureKind(IntEnum):
    """How a feature is made; the more of them there are, the more it takes to single one out."""

    AXIS = 0
    PRODUCT = 1
    QUOTIENT = 2
    REMAINDER = 3
    TRIPLE = 4
    PAIR_QUOTIENT = 5


@dataclass(frozen=True, slots=True)
class CellFeature:
    """``text`` is a Python expression over the axes ``names`` with the value ``of`` a cell."""

    kind: FeatureKind
    text: str
    names: tuple[str, ...]
    of: Callable[[Values], float]

    @property
    def is_remainder(self) -> bool:
        """Whether only zero or not is worth asking."""
        return self.kind is FeatureKind.REMAINDER


def features_of(grid: Grid) -> Iterator[CellFeature]:
    """The features of a grid: each numeric axis that varies, products and quotients of up to three of them, remainders
    of one by another or by a small number."""
    axes = [axis for axis in grid.varying if axis.is_numeric]
    positive = [axis.name for axis in axes if all(value > 0 for value in axis.values)]
    for axis in axes:
        yield CellFeature(FeatureKind.AXIS, axis.name, (axis.name,), _product(axis.name))
        yield from _remainders(axis)
    for pair in combinations(positive, 2):
        yield CellFeature(FeatureKind.PRODUCT, " * ".join(pair), pair, _product(*pair))
    for left, right in permutations(positive, 2):
        if left < right:  # the other is its inverse
            yield CellFeature(FeatureKind.QUOTIENT, f"{left} / {right}", (left, right), _quotient((left,), right))
        if _are_whole(grid, left, right):
            yield CellFeature(FeatureKind.REMAINDER, f"{left} % {right}", (left, right), _remainder(left, right))
    for triple in combinations(positive, 3):
        yield CellFeature(FeatureKind.TRIPLE, " * ".join(triple), triple, _product(*triple))
        for below in triple:
            above = tuple(name for name in triple if name != below)
            text = f"{' * '.join(above)} / {below}"
            yield CellFeature(FeatureKind.PAIR_QUOTIENT, text, (*above, below), _quotient(above, below))


def values_of(grid: Grid, names: tuple[str, ...]) -> Iterator[tuple[dict[int, tuple[int, ...]], dict[str, Any]]]:
    """Every combination of the values of these axes: as positions by axis (a box of the grid), and by name."""
    indices = [grid.positions[name] for name in names]
    for at in product(*(range(len(grid.axes[index].values)) for index in indices)):
        box: dict[int, tuple[int, ...]] = {index: (position,) for index, position in zip(indices, at, strict=True)}
        yield (
            box,
            {
                grid.axes[index].name: grid.axes[index].values[position]
                for index, position in zip(indices, at, strict=True)
            },
        )


def _remainders(axis: SweepAxis) -> Iterator[CellFeature]:
    if not all(type(value) is int for value in axis.values):
        return
    seen = set()
    for modulus in _MODULI:
        pattern = tuple(value % modulus == 0 for value in axis.values)
        if len(set(pattern)) == 2 and pattern not in seen:
            seen.add(pattern)
            of = _modulo(axis.name, modulus)
            yield CellFeature(FeatureKind.REMAINDER, f"{axis.name} % {modulus}", (axis.name,), of)


def _are_whole(grid: Grid, *names: str) -> bool:
    return all(type(value) is int for name in names for value in grid.axes[grid.positions[name]].values)


def _product(*names: str) -> Callable[[Values], float]:
    return lambda values: prod(values[name] for name in names)


def _quotient(above: tuple[str, ...], below: str) -> Callable[[Values], float]:
    return lambda values: prod(values[name] for name in above) / values[below]


def _remainder(left: str, right: str) -> Callable[[Values], float]:
    return lambda values: values[left] % values[right]


def _modulo(name: str, modulus: int) -> Callable[[Values], float]:
    return lambda values: values[name] % modulus
