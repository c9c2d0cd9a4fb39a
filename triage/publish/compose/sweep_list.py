"""The configurations of a list that fail, each with its targets and releases; those that compile are only counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triage.publish.compose.sweep import SweepView
from triage.sweeps.grid import CellSet, cells_of
from triage.sweeps.space import CONFIGURATION

_MOST_MACHINES = 6
"""Targets and releases that are named for a configuration."""


@dataclass(frozen=True, slots=True)
class FailingConfiguration:
    """``sign``: the letter of its failure, or the sign of a cell that could not be told. ``where``: targets and
    releases; empty where it fails so for all of them."""

    sign: str
    name: str
    where: str


def failing(view: SweepView) -> Iterator[FailingConfiguration]:
    """The configurations that fail, or could not be told, in the order of the list."""
    grid = view.grid
    position = grid.positions[CONFIGURATION]
    for number, name in enumerate(view.axes[position].values):
        own = grid.with_value(position, number) & grid.allowed
        for look, cells in view.looks.items():
            # What an interrupt left out is counted, and says nothing of a configuration.
            if look.state is not None and look.legal is not True and cells & own:
                where = "" if cells & own == own else _machines(view, cells & own)
                yield FailingConfiguration(look.sign, name, where)


def _machines(view: SweepView, cells: CellSet) -> str:
    others = [index for index, axis in enumerate(view.grid.axes) if axis.name != CONFIGURATION]
    words = [" ".join(view.axes[axis].values[at[axis]] for axis in others) for at in map(view.grid.at, cells_of(cells))]
    more = f" and {len(words) - _MOST_MACHINES} more" if len(words) > _MOST_MACHINES else ""
    return ", ".join(words[:_MOST_MACHINES]) + more
