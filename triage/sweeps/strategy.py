"""What decides which cells are compiled: all of them, or those from which most is learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from triage.sweeps.grid import Cell
from triage.sweeps.observation import CellObservation, Predicted
from triage.sweeps.purpose import CellPurpose


class Strategy(Protocol):
    """Proposes cells to the runner of a sweep, and learns what they showed, in any order."""

    def propose(self, count: int) -> Sequence[Cell]:
        """At most ``count`` cells to compile next, each once. None while :attr:`is_done` is false: wait for what is
        compiled now."""

    def purpose(self, cell: Cell) -> CellPurpose | None:
        """Why a proposed cell is compiled, until its result is learnt."""

    def learn(self, cell: Cell, observation: CellObservation, purpose: CellPurpose | None = None) -> None:
        """A proposed cell was compiled; or one of an earlier run, with its ``purpose`` then, before anything is
        proposed."""

    @property
    def is_done(self) -> bool:
        """Nothing more will be proposed."""

    def predict(self) -> Predicted:
        """What the cells that were not compiled are."""
