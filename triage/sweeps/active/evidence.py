"""The compiled cells of a sweep, by failure; what each says of every failure, and nothing of which it hides. Pure.

A cell that fails at an early stage says nothing of what would fail later, and of two failures at the same stage only
the first shows. So a cell counts against a failure only if it compiles, or fails at a later stage.
"""

from __future__ import annotations

from collections.abc import Sequence

from triage.model.outcome import Stage
from triage.sweeps.active.measures import Measure
from triage.sweeps.active.predicates import Sample
from triage.sweeps.grid import Cell, Grid
from triage.sweeps.observation import CellObservation

_ORDER = {stage.value: number for number, stage in enumerate(Stage)}


def stage_of(observation: CellObservation) -> int:
    """The number of the stage at which a cell fails, in their order; the first where that is not known."""
    return _ORDER.get(observation.stage or "", 0)


class FailureEvidence:
    """Compiled cells with an answer, numbered as they came. A cell that could not be decided is no evidence."""

    def __init__(self, grid: Grid, measures: Sequence[Measure]) -> None:
        self.sample = Sample(grid, measures)
        self.legal = 0
        self.failing: dict[str, int] = {}
        """Signature → the numbers of its cells, as bits."""
        self._stages: dict[str, int] = {}
        self.resources: dict[str, str] = {}
        """Signature → the resource that such a failure is out of."""

    def learn(self, cell: Cell, observation: CellObservation) -> None:
        """One more compiled cell, legal or failed."""
        bit = 1 << len(self.sample.cells)
        self.sample.add(cell)
        if observation.is_legal:
            self.legal |= bit
            return
        signature = observation.signature or ""
        self.failing[signature] = self.failing.get(signature, 0) | bit
        stage = stage_of(observation)
        self._stages[signature] = min(stage, self._stages.get(signature, stage))
        if observation.resource is not None:
            self.resources[signature] = observation.resource

    @property
    def signatures(self) -> list[str]:
        """The failures, earliest stage first: the one that shows where several apply."""
        return sorted(
            self.failing, key=lambda signature: (self._stages[signature], -self.failing[signature].bit_count())
        )

    def against(self, signature: str) -> int:
        """The numbers of the cells that would show the failure, and do not."""
        stage = self._stages[signature]
        cells = self.legal
        for other, members in self.failing.items():
            if self._stages[other] > stage:
                cells |= members
        return cells
