"""What the cells of a grid are: one case with other values, or the members of a list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from triage.model.case import Case
from triage.model.language import Language
from triage.sweeps.grid import Cell, Grid, cells_of

CONFIGURATION = "configuration"
"""The axis of a list: its values name its members."""


@dataclass(frozen=True, slots=True)
class CaseSpace:
    """One case with the values of the grid's axes: a map, in which failures are what is asked for."""

    origin: Case
    grid: Grid
    is_list: ClassVar = False

    @property
    def bases(self) -> Sequence[Case]:
        """The case."""
        return (self.origin,)

    def base(self, cell: Cell) -> int:
        """There is one."""
        return 0

    def candidates(self, configurations: Iterable[Mapping[str, Any]]) -> Iterator[Cell]:
        """The allowed cells that may have these configurations (``keys.py``): at most one for each."""
        positions = [
            (axis.name, {json.dumps(value): number for number, value in enumerate(axis.values)})
            for axis in self.grid.axes
        ]
        for configuration in configurations:
            at = [numbers.get(json.dumps(_value(configuration, name))) for name, numbers in positions]
            known = [number for number in at if number is not None]
            if len(known) == len(at) and self.grid.allowed >> (cell := self.grid.number(known)) & 1:
                yield cell

    def obstacle(self, cell: Cell) -> str | None:
        """Why a cell cannot be compiled: nothing is in the way of any."""
        return None

    def changes(self, cell: Cell) -> dict[str, Any]:
        """What the cell changes in the case."""
        changes: dict[str, Any] = {}
        for axis, position in zip(self.grid.axes, self.grid.at(cell), strict=True):
            changes |= axis.changes(position)
        return changes

    def case(self, cell: Cell) -> Case:
        """The case with the cell's values."""
        return changed(self.origin, self.changes(cell))


@dataclass(frozen=True, slots=True)
class ListSpace:
    """Cases in the order of the values of the axis ``configuration``; the other axes are target and release. Somebody
    uses them: none may fail. ``unclear``: why a case cannot be compiled; empty where every one can."""

    bases: tuple[Case, ...]
    grid: Grid
    unclear: tuple[str | None, ...] = ()
    is_list: ClassVar = True

    def candidates(self, configurations: Iterable[Mapping[str, Any]]) -> Iterator[Cell]:
        """All allowed cells: a list is short."""
        return cells_of(self.grid.allowed)

    def obstacle(self, cell: Cell) -> str | None:
        """Why the cell cannot be compiled."""
        return self.unclear[self.base(cell)] if self.unclear else None

    def base(self, cell: Cell) -> int:
        """Its position on the axis ``configuration``."""
        return self.grid.at(cell)[self.grid.positions[CONFIGURATION]]

    def changes(self, cell: Cell) -> dict[str, Any]:
        """The target and the release, where there are several."""
        return {name: value for name, value in self.grid.values(cell).items() if name != CONFIGURATION}

    def case(self, cell: Cell) -> Case:
        """The member, for the cell's target and release."""
        return changed(self.bases[self.base(cell)], self.changes(cell))


Space: TypeAlias = CaseSpace | ListSpace
"""The cells of a sweep as cases."""


def changed(case: Case, values: Mapping[str, Any]) -> Case:
    """The case with these values. In Gluon an option of a launch may be a constexpr too: both get the value."""
    result = case.with_changes(values)
    if case.language is not Language.GLUON:
        return result
    both = {name: values[name] for name in values if name in case.constexprs and name in case.language.options}
    if not both:
        return result
    return result.replaced(
        result.signature, result.constexprs, result.divisible, {**result.options, **both}, result.target
    )


def _value(configuration: Mapping[str, Any], name: str) -> Any:
    """The value of an axis in a configuration; None for an option that is not stated."""
    if name == "target":
        return configuration["target"]
    for part in ("constexprs", "signature", "construct", "toolchain", "options"):
        if name in configuration.get(part, {}):
            return configuration[part][name]
    return None
