"""What a sweep knows of a cell: compiled and seen, or predicted; and the failures that it saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

from triage.model.diagnosis import Kind
from triage.model.document import Doc, Documented, Name
from triage.model.outcome import Resources
from triage.sweeps.grid import CellSet


class CellState(str, Enum):
    """The states of a cell (contract: ``cells[].state``). The first three were compiled; the others never were."""

    COMPILED = "compiled"
    FAILED = "failed"
    UNTOLD = "could-not-tell"
    PREDICTED_LEGAL = "predicted-legal"
    PREDICTED_ILLEGAL = "predicted-illegal"


@dataclass(frozen=True, slots=True)
class CellObservation(Documented):
    """What one compile showed. ``state`` is one of the first three. A failure has a ``signature``; one that is out of
    a resource also says which, what it ``required`` and the ``limit`` (bytes, columns, registers, threads).
    ``reason``: why it could not be told. What compiled and is suspect failed, as everywhere."""

    state: CellState
    signature: str | None = None
    headline: str | None = None
    kind: str | None = None
    status: str | None = None
    stage: str | None = None
    resource: str | None = None
    required: int | None = None
    limit: int | None = None
    resources: Resources | None = None
    reason: str | None = None
    duration_s: Annotated[float | None, Doc(digits=3)] = None

    @property
    def is_of_limits(self) -> bool:
        """Whether it failed for want of time or memory: that is about the machine and its limits as well."""
        return self.kind in (Kind.TIMEOUT.value, Kind.OUT_OF_MEMORY.value)

    @property
    def is_legal(self) -> bool | None:
        """Whether the cell is legal; None where that could not be told."""
        return None if self.state is CellState.UNTOLD else self.state is CellState.COMPILED


@dataclass(frozen=True, slots=True)
class SweepFailure(Documented):
    """One bug of the map. ``matches``: entries of the knowledge base with their confidence, best first."""

    signature: Name
    headline: str
    kind: str | None = None
    matches: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PredictedCells:
    """Cells that were not compiled and are predicted alike: to be legal, or to fail with ``signature``.
    ``probability``: that this is right, by what agrees in the observations; a count of votes is not a probability."""

    cells: CellSet
    legal: bool
    probability: float
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class Predicted:
    """All that a strategy predicts. ``error_bound``: an upper bound of the part of the *predicted* cells that are
    wrong, at 95 % confidence, from probes that were chosen at random and had been predicted before they were compiled;
    None without such probes. ``probes``: how many there were. ``inert``: axes that change nothing, by name, with how
    many pairs of compiled cells differ in nothing else and agree."""

    groups: tuple[PredictedCells, ...] = ()
    error_bound: float | None = None
    probes: int = 0
    inert: Mapping[str, int] = field(default_factory=dict)
