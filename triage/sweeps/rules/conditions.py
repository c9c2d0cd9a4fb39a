"""Conditions: what a rule is a conjunction of, with their length in bits. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import log2

from triage.sweeps.columns import Column, Positions, columns, positions_of
from triage.sweeps.grid import CellSet, Grid
from triage.sweeps.rules.features import CellFeature, FeatureKind, features_of

_MOST_MEMBERS = 6
"""Values of an axis of which every subset is a condition; of a longer one single values, their complements, and what
is up to or from a value on where they have an order."""
_MOST_DENOMINATOR = 1 << 16
"""Of ratios of extents: a block has no larger one, and two such ratios never have the same float."""


@dataclass(frozen=True, slots=True)
class RuleCondition:
    """``text`` as people read it, ``python`` as an expression over the names of the ``axes``, and whether it ``holds``
    at positions on these. ``family``: conditions of one kind; ``bits``: what it takes to single one out among those
    that are not longer."""

    text: str
    python: str
    axes: tuple[int, ...]
    holds: Callable[[Positions], bool] = field(compare=False)
    family: str = ""
    bits: float = 0.0

    def cells(self, grid: Grid) -> CellSet:
        """All cells of the grid where it holds, allowed or not."""
        cells = 0
        for at in positions_of(grid, self.axes):
            if self.holds(at):
                cells |= grid.selected({axis: (position,) for axis, position in zip(self.axes, at, strict=True)})
        return cells


def conditions_of(grid: Grid, others: Iterable[RuleCondition] = ()) -> list[RuleCondition]:
    """Every condition on a grid, with its length; those that hold everywhere or nowhere are left out. ``others``: some
    that rest on what was seen."""
    families: dict[str, list[RuleCondition]] = defaultdict(list)
    orders = {column.axis: column for column in columns(grid) if not column.size}
    for index, axis in enumerate(grid.axes):
        if len(axis.values) > 1 and not axis.is_numeric:
            for condition in _members(grid, index, orders.get(index)):
                families[condition.family].append(condition)
    for feature in features_of(grid):
        for condition in _comparisons(grid, feature):
            families[condition.family].append(condition)
    # Conditions on fewer axes come first: a condition costs the bits of its rank in that order, by families.
    ordered = sorted(families.values(), key=lambda each: (len(each[0].axes), len(each)))
    measured, rank = list[RuleCondition](), 0
    for family in (*ordered[:1], list(others), *ordered[1:]):
        rank += len(family)
        measured += [replace(condition, bits=log2(rank + 1)) for condition in family]
    return measured


def _members(grid: Grid, index: int, order: Column | None) -> Iterator[RuleCondition]:
    """Of an axis that is no number: equal to a value, to another, to one of several."""
    axis, at = grid.axes[index], (index,)
    name, values, every = axis.name, axis.values, range(len(axis.values))
    if all(type(value) is bool for value in values):
        true = frozenset(position for position in every if values[position])
        yield RuleCondition(name, name, at, _is_among(true), "value")
        yield RuleCondition(f"not {name}", f"not {name}", at, _is_among(frozenset(every) - true), "value")
        return
    for position in every:
        value, only = values[position], frozenset([position])
        yield RuleCondition(f"{name} = {value}", f"{name} == {value!r}", at, _is_among(only), "value")
        if len(values) > 2:
            yield RuleCondition(
                f"{name} ≠ {value}", f"{name} != {value!r}", at, _is_among(frozenset(every) - only), "value"
            )
    if order is not None and order.name == name and _has_one_order(values):
        ranked = sorted(every, key=lambda position: order.values[position])
        for cut in range(2, len(ranked)):
            below, above = ranked[:cut], ranked[cut - 1 :]
            yield _chosen(name, values, at, below, f"{name} ≤ {values[below[-1]]}")
            yield _chosen(name, values, at, above, f"{name} ≥ {values[above[0]]}")
    elif len(values) <= _MOST_MEMBERS:
        for size in range(2, len(values) - 1):
            for chosen in combinations(every, size):
                shown = ", ".join(str(values[position]) for position in chosen)
                yield _chosen(name, values, at, chosen, f"{name} in {shown}")


def _has_one_order(values: Sequence[object]) -> bool:
    """Releases, or targets of one vendor."""
    return len({str(value).partition(":")[0] for value in values if ":" in str(value)}) <= 1


def _chosen(name: str, values: Sequence[object], at: Positions, chosen: Sequence[int], text: str) -> RuleCondition:
    members = tuple(values[position] for position in sorted(chosen))
    return RuleCondition(text, f"{name} in {members!r}", at, _is_among(frozenset(chosen)), "members")


def _comparisons(grid: Grid, feature: CellFeature) -> Iterator[RuleCondition]:
    """Of a number: at least or at most one of the values it takes, equal to one (of an axis), zero or not (of a
    remainder)."""
    if feature.is_remainder:
        kinds = (("≠", "!=", _nonzero(feature)), ("=", "==", _zero(feature)))
        for sign, operator, holds in kinds:
            text, python = f"{feature.text} {sign} 0", f"{feature.python} {operator} 0"
            yield RuleCondition(text, python, feature.axes, holds, "remainder")
        return
    values = sorted({feature.of(at) for at in positions_of(grid, feature.axes)})
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
    feature: CellFeature, sign: str, operator: str, value: float, holds: Callable[[Positions], bool]
) -> RuleCondition:
    family = "number" if feature.kind is FeatureKind.AXIS else feature.kind.name.lower()
    above, slash, below = feature.text.rpartition(" / ")
    left, _, right = feature.python.rpartition(" / ")
    ratio = _ratio(value)
    if slash and ratio is not None and (ratio == 1 or ratio.denominator > 1):
        times, per = ratio.denominator, ratio.numerator
        text = f"{_times(times, above)} {sign} {_times(per, below)}"
        python = f"{_times(times, left)} {operator} {_times(per, right)}"
    else:
        number = int(value) if value == int(value) else value
        text, python = f"{feature.text} {sign} {number}", f"{feature.python} {operator} {number!r}"
    return RuleCondition(text, python, feature.axes, holds, family)


def _ratio(value: float) -> Fraction | None:
    """The quotient of whole numbers that this is, as extents are; None where there is none of short ones."""
    ratio = Fraction(value).limit_denominator(_MOST_DENOMINATOR)
    return ratio if float(ratio) == value else None


def _times(number: int, factor: str) -> str:
    return factor if number == 1 else f"{number} * {factor}"


def _is_among(positions: frozenset[int]) -> Callable[[Positions], bool]:
    return lambda at: at[0] in positions


def _nonzero(feature: CellFeature) -> Callable[[Positions], bool]:
    return lambda at: feature.of(at) != 0


def _zero(feature: CellFeature) -> Callable[[Positions], bool]:
    return lambda at: feature.of(at) == 0


def _at_least(feature: CellFeature, low: float) -> Callable[[Positions], bool]:
    return lambda at: feature.of(at) >= low


def _at_most(feature: CellFeature, high: float) -> Callable[[Positions], bool]:
    return lambda at: feature.of(at) <= high


def _equals(feature: CellFeature, value: float) -> Callable[[Positions], bool]:
    return lambda at: feature.of(at) == value
