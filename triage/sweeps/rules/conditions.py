"""Conditions: what a rule is a conjunction of, with their length in bits. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import log2

from triage.sweeps.grid import CellSet, Grid, SweepAxis
from triage.sweeps.rules.features import CellFeature, FeatureKind, Values, features_of, values_of

_MOST_MEMBERS = 6
"""Values of an axis of which every subset is a condition; of a longer one single values and their complements are."""


@dataclass(frozen=True, slots=True)
class Condition:
    """``text`` as people read it, ``python`` as an expression over the axes ``names``. ``family``: conditions of one
    kind; ``bits``: what it takes to single one out among those that are not longer."""

    text: str
    python: str
    names: tuple[str, ...]
    holds: Callable[[Values], bool] = field(compare=False)
    family: str = ""
    bits: float = 0.0

    def cells(self, grid: Grid) -> CellSet:
        """All cells of the grid where it holds, allowed or not."""
        cells = 0
        for box, values in values_of(grid, self.names):
            if self.holds(values):
                cells |= grid.selected(box)
        return cells


def conditions_of(grid: Grid) -> list[Condition]:
    """Every condition on a grid, with its length; those that hold everywhere or nowhere are left out."""
    families: dict[str, list[Condition]] = defaultdict(list)
    for axis in grid.varying:
        if not axis.is_numeric:
            for condition in _members(axis):
                families[condition.family].append(condition)
    for feature in features_of(grid):
        for condition in _comparisons(grid, feature):
            families[condition.family].append(condition)
    # What is made of fewer axes comes first: a condition costs the bits of its place in that order, by families.
    measured, place = list[Condition](), 0
    for family in sorted(families.values(), key=lambda each: (len(each[0].names), len(each))):
        place += len(family)
        measured += [replace(condition, bits=log2(place + 1)) for condition in family]
    return measured


def _members(axis: SweepAxis) -> Iterator[Condition]:
    """Of an axis without order: equal to a value, to another, to one of several."""
    name, values = axis.name, axis.values
    if all(type(value) is bool for value in values):
        yield Condition(name, name, (name,), lambda row: bool(row[name]), "value")
        yield Condition(f"not {name}", f"not {name}", (name,), lambda row: not row[name], "value")
        return
    if len(values) <= _MOST_MEMBERS:
        sizes = range(1, len(values))
    else:
        sizes = range(1, 2)
        for value in values:
            yield Condition(f"{name} ≠ {value}", f"{name} != {value!r}", (name,), _differs(name, value), "value")
    for size in sizes:
        for chosen in combinations(values, size):
            if size == 1:
                text, python = f"{name} = {chosen[0]}", f"{name} == {chosen[0]!r}"
            elif size == len(values) - 1:
                (missing,) = (value for value in values if value not in chosen)
                text, python = f"{name} ≠ {missing}", f"{name} != {missing!r}"
            else:
                text, python = f"{name} in {', '.join(map(str, chosen))}", f"{name} in {chosen!r}"
            family = "value" if size in (1, len(values) - 1) else "members"
            yield Condition(text, python, (name,), _is_member(name, chosen), family)


def _comparisons(grid: Grid, feature: CellFeature) -> Iterator[Condition]:
    """Of a number: at least or at most one of the values it takes, equal to one (of an axis), zero or not (of a
    remainder)."""
    if feature.is_remainder:
        yield Condition(f"{feature.text} ≠ 0", f"{feature.text} != 0", feature.names, _nonzero(feature), "remainder")
        yield Condition(f"{feature.text} = 0", f"{feature.text} == 0", feature.names, _zero(feature), "remainder")
        return
    values = sorted({feature.of(values) for _, values in values_of(grid, feature.names)})
    is_axis = feature.kind is FeatureKind.AXIS
    for low in values[1 : len(values) - is_axis]:
        yield _compared(feature, "≥", ">=", low, _at_least(feature, low))
    for high in values[is_axis:-1]:
        yield _compared(feature, "≤", "<=", high, _at_most(feature, high))
    if is_axis:
        # The first and the last among them: of a number beyond the grid nothing is known.
        for value in values:
            yield _compared(feature, "=", "==", value, _equals(feature, value))


def _compared(
    feature: CellFeature, sign: str, operator: str, value: float, holds: Callable[[Values], bool]
) -> Condition:
    number = int(value) if value == int(value) else value
    family = "number" if feature.kind is FeatureKind.AXIS else feature.kind.name.lower()
    if feature.kind is FeatureKind.QUOTIENT and number == 1:
        above, below = feature.names
        return Condition(f"{above} {sign} {below}", f"{above} {operator} {below}", feature.names, holds, family)
    text, python = f"{feature.text} {sign} {number}", f"{feature.text} {operator} {number!r}"
    return Condition(text, python, feature.names, holds, family)


def _differs(name: str, value: object) -> Callable[[Values], bool]:
    return lambda row: bool(row[name] != value)


def _is_member(name: str, chosen: Sequence[object]) -> Callable[[Values], bool]:
    return lambda row: row[name] in chosen


def _nonzero(feature: CellFeature) -> Callable[[Values], bool]:
    return lambda row: feature.of(row) != 0


def _zero(feature: CellFeature) -> Callable[[Values], bool]:
    return lambda row: feature.of(row) == 0


def _at_least(feature: CellFeature, low: float) -> Callable[[Values], bool]:
    return lambda row: feature.of(row) >= low


def _at_most(feature: CellFeature, high: float) -> Callable[[Values], bool]:
    return lambda row: feature.of(row) <= high


def _equals(feature: CellFeature, value: float) -> Callable[[Values], bool]:
    return lambda row: feature.of(row) == value
