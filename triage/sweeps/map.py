"""The map: what a sweep knows at its end, or until it was interrupted, and the document ``triton-triage/sweep/1``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from triage.matrix.table import letters
from triage.model.case import Case
from triage.sweeps.grid import Cell, CellSet, Grid, set_of
from triage.sweeps.observation import CellObservation, CellState, Predicted, SweepFailure
from triage.sweeps.replacement import Replacement
from triage.sweeps.rule import SweepRule


@dataclass(frozen=True)
class SweepMap:
    """``observations``: of the cells that were compiled, by number. ``failures``: by signature, those that are most
    frequent first. ``predicted``: of the others; empty where every cell was compiled. ``interrupted``: the sweep ended
    before its strategy did. ``replacements``: of a list, what replaces the entries that fail; ``kernels``: how many
    kernels its configurations are of."""

    case: Case
    grid: Grid
    observations: Mapping[Cell, CellObservation]
    failures: tuple[SweepFailure, ...]
    predicted: Predicted = field(default_factory=Predicted)
    rules: tuple[SweepRule, ...] = ()
    interrupted: bool = False
    replacements: tuple[Replacement, ...] = ()
    kernels: int = 1

    @cached_property
    def letters(self) -> Mapping[str, str]:
        """Signature → letter."""
        return {failure.signature: letters(number) for number, failure in enumerate(self.failures)}

    def to_json(self) -> dict[str, Any]:
        """The document ``triton-triage/sweep/1``."""
        from triage.sweeps.document import to_json

        return to_json(self)

    def cells_in(self, state: CellState) -> CellSet:
        """The cells in a state."""
        if state in (CellState.PREDICTED_LEGAL, CellState.PREDICTED_ILLEGAL):
            legal = state is CellState.PREDICTED_LEGAL
            cells = 0
            for group in self.predicted.groups:
                cells |= group.cells if group.legal == legal else 0
            return cells & self.unseen
        return set_of(cell for cell, seen in self.observations.items() if seen.state is state)

    @cached_property
    def unseen(self) -> CellSet:
        """Allowed cells that were not compiled."""
        return self.grid.allowed & ~set_of(self.observations)
