"""Conditions that say that a resource is over its limit: the formula of what cells use, as it was fitted. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from triage.model.target import Target
from triage.sweeps.active.formula import EXACT, Formula, Term
from triage.sweeps.active.quantities import ResourceQuantity, limit_of, used
from triage.sweeps.columns import Positions, target_of
from triage.sweeps.grid import Cell, Grid
from triage.sweeps.observation import CellObservation
from triage.sweeps.rules.conditions import RuleCondition
from triage.sweeps.rules.features import python


def over_limits(grid: Grid, base: Target, observations: Mapping[Cell, CellObservation]) -> Iterator[RuleCondition]:
    """For each resource that a compile was out of, and each formula that is exact for a part of the cells: that it is
    over the limit of the target. ``base``: the target where that is no axis."""
    short = {seen.resource for seen in observations.values() if seen.resource is not None}
    for resource in sorted(short):
        quantity = ResourceQuantity(grid, base, resource)
        limits: dict[int, int] = {}
        axis, targets = target_of(grid, base)
        for cell, seen in sorted(observations.items()):
            stated = seen.limit if seen.resource == resource else None
            if stated is not None:
                limits[0 if axis is None else grid.at(cell)[axis]] = stated
            for name, number in used(seen):
                if name == resource:
                    quantity.learn(cell, number, stated)
        quantity.refit()
        if quantity.formula is None:
            continue
        for position, target in enumerate(targets):
            known = limit_of(target, resource)
            if position not in limits and known is not None:
                limits[position] = known
        formulas = [leaf.formula for leaf in quantity.formula.leaves if leaf.exact and leaf.formula is not None]
        for formula in formulas:
            yield _over(grid, resource, formula, axis, limits)


def _over(grid: Grid, resource: str, formula: Formula, target: int | None, limits: Mapping[int, int]) -> RuleCondition:
    several = target is not None and len(set(limits.values())) > 1
    axes = tuple(sorted({*formula.axes, *([target] if several and target is not None else [])}))
    expression = " + ".join(
        _term(grid, term, weight) for term, weight in zip(formula.terms, formula.weights, strict=True)
    )
    shown = " + ".join(_term(None, term, weight) for term, weight in zip(formula.terms, formula.weights, strict=True))
    if several and target is not None:
        values = grid.axes[target].values
        table = {values[position]: limit for position, limit in sorted(limits.items())}
        limit_text, limit_python = f"the {resource} of target", f"{table!r}[{grid.axes[target].name}]"
    else:
        limit_text = limit_python = str(next(iter(limits.values()), 0))
    return RuleCondition(
        f"{shown} > {limit_text}",
        f"{expression} > {limit_python}",
        axes,
        _exceeds(grid, axes, formula, target if several else None, limits),
        "resource",
    )


def _exceeds(
    grid: Grid, axes: tuple[int, ...], formula: Formula, target: int | None, limits: Mapping[int, int]
) -> Callable[[Positions], bool]:
    def holds(at: Positions) -> bool:
        positions = [0] * len(grid.axes)
        for axis, position in zip(axes, at, strict=True):
            positions[axis] = position
        limit = limits.get(0 if target is None else positions[target]) if limits else None
        return limit is not None and _rounded(formula).at(positions) > limit

    return holds


def _rounded(formula: Formula) -> Formula:
    return Formula(formula.terms, tuple(map(_whole, formula.weights)), formula.residual, formula.rows)


def _whole(weight: float) -> float:
    """The nearest number with few binary digits, where the fit does not tell them apart."""
    for scale in (1, 2, 4, 8, 16):
        near = round(weight * scale) / scale
        if near and abs(near - weight) <= EXACT * weight:
            return near
    return weight


def _term(grid: Grid | None, term: Term, weight: float) -> str:
    """A product of the formula: as people read it, or over the names of a grid's axes."""
    names = []
    for factor in term:
        column = factor.column
        if column.name.startswith("bits("):
            # Memory is counted in bytes.
            column = replace(column, name=f"bytes{column.name[4:]}", values=tuple(bits / 8 for bits in column.values))
            weight *= 8
        name = column.name if grid is None else python(grid, column)
        names.append(f"({name} - {factor.less})" if factor.less else name)
    number = _whole(weight)
    shown = str(int(number)) if number == int(number) else f"{number:.6g}"
    return " * ".join([*names] if shown == "1" and names else [shown, *names])
