"""Command lines of a sweep: of one cell, and of the sweep itself."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triage.drafts.words import arguments, constant
from triage.model.case import Case
from triage.sweeps.grid import Cell, Grid


@dataclass(frozen=True, slots=True)
class SweepCommands:
    """``check``: the words of ``triage check CASE`` with every option that is not an axis. ``again``: those of the
    sweep."""

    check: tuple[str, ...]
    again: tuple[str, ...]

    def of_cell(self, case: Case, grid: Grid, cell: Cell) -> str:
        """The command line that triages one cell."""
        values = grid.values(cell)
        return shlex.join([*self.check, *(word for name in values for word in axis_words(case, name, values[name]))])

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
