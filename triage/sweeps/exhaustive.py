"""The strategy that compiles every cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from triage.sweeps.grid import Cell, CellSet, Grid, cells_of
from triage.sweeps.observation import CellObservation, Predicted
from triage.sweeps.purpose import CellPurpose


class ExhaustiveStrategy:
    """All allowed cells in their order, so that those which share a compiler's server follow each other."""

    def __init__(self, grid: Grid) -> None:
        self._left: CellSet = grid.allowed
        self._ahead = cells_of(grid.allowed)

    def propose(self, count: int) -> Sequence[Cell]:
        """The next cells."""
        cells = tuple(islice((cell for cell in self._ahead if self._left >> cell & 1), count))
        for cell in cells:
            self._left &= ~(1 << cell)
        return cells

    def purpose(self, cell: Cell) -> CellPurpose | None:
        """Nothing is predicted that it could test."""
        return None

    def learn(self, cell: Cell, observation: CellObservation, purpose: CellPurpose | None = None) -> None:
        """It need not be proposed any more."""
        self._left &= ~(1 << cell)

    @property
    def is_done(self) -> bool:
        """Whether every cell was proposed, or known before."""
        return not self._left

    def predict(self) -> Predicted:
        """Nothing."""
        return Predicted()
