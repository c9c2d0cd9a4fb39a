"""Command lines of a sweep: of one cell, and of the sweep itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triage.drafts.words import arguments, constant
from triage.model.case import Case
from triage.sweeps.grid import Cell, Grid, SweepAxis
from triage.sweeps.space import CONFIGURATION


@dataclass(frozen=True, slots=True)
class SweepCommands:
    """``check``: the words of ``triage check CASE`` with every option that is not an axis. ``again``: those of the
    sweep. ``members``: of a list, the words of each of its members after ``triage check``; then ``check`` has no case.
    """

    check: tuple[str, ...]
    again: tuple[str, ...]
    members: tuple[tuple[str, ...], ...] = ()

    def of_cell(self, case: Case, grid: Grid, cell: Cell) -> str:
        """The command line that triages one cell."""
        words = [word for axis, at in zip(grid.axes, grid.at(cell), strict=True) for word in self.words(case, axis, at)]
        return shlex.join([*self.check, *words])

    def words(self, case: Case, axis: SweepAxis, position: int) -> Sequence[str]:
        """The words that give an axis the value at this position."""
        if axis.name == CONFIGURATION and self.members:
            return self.members[position]
        return [word for name, value in axis.changes(position).items() for word in axis_words(case, name, value)]

    @property
    def repeating(self) -> str:
        """The command line that repeats the sweep."""
        return shlex.join(self.again)


def axis_words(case: Case, name: str, value: Any) -> list[str]:
    """The options of ``triage check`` that give an axis this value; a value that is an object sets each of its names.

    A name belongs where :meth:`Case.with_changes` has it; None is an option that is not stated."""
    if isinstance(value, Mapping):
        return [word for each, of_each in value.items() for word in axis_words(case, each, of_each)]
    if name in case.constexprs or name in case.construct:
        return ["--const", f"{name}={constant(value)}"]
    if name in case.signature:
        return ["--arg", f"{name}={value}"]
    if name in ("target", case.compiler.name):
        return [f"--{name}", str(value)]
    return arguments(case.replaced({}, {}, {}, {name: value}, case.target))
