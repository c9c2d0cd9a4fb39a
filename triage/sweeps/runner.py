"""Runs a sweep: what the ledger has is learnt first, what the strategy proposes is compiled, each result is written as
it comes, and at the end stands the map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from triage.model.errors import EnvironmentFault, InputError
from triage.model.progress import Progress
from triage.sweeps.backends import Backend, SweepResult
from triage.sweeps.grid import Cell, cells_of
from triage.sweeps.keys import CaseKeys
from triage.sweeps.ledger import Ledger, LedgerRow
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellObservation, CellState, SweepFailure
from triage.sweeps.pace import Pace
from triage.sweeps.space import Space
from triage.sweeps.strategy import Strategy


@dataclass(slots=True)
class SweepRunner:
    """``jobs``: how many cells are asked for at a time. ``known``: results of the ledger by cell."""

    space: Space
    strategy: Strategy
    backend: Backend
    ledger: Ledger
    known: Mapping[Cell, CellObservation] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    jobs: int = 1
    interrupted: bool = False
    _observations: dict[Cell, CellObservation] = field(default_factory=dict)
    _under_way: int = 0
    _decided: bool = False

    def run(self) -> SweepMap:
        """The map. An interrupt ends it, with the cells until then; without any, KeyboardInterrupt is raised.

        Raises InputError where the case does not fit its kernel, and EnvironmentFault where no cell could be told."""
        pace = Pace(len(self.space.grid))
        for cell, observation in self.known.items():
            self._learn(cell, observation)
            pace.add(observation, known=True)
        try:
            for result in self.backend.results(self._proposed()):
                self._take(result)
                pace.add(result.row.observation)
                self.progress.step(pace.line)
        except KeyboardInterrupt:
            self.interrupted = True
            if not self._observations:
                raise
        return self._map()

    def _proposed(self) -> Iterator[Cell | None]:
        while not self.strategy.is_done:
            cells = self.strategy.propose(self.jobs)
            for cell in cells:
                self._under_way += 1
                yield cell
            if not cells:
                if not self._under_way:
                    return  # It waits for nothing.
                yield None

    def _take(self, result: SweepResult) -> None:
        self._under_way -= 1
        observation = result.row.observation
        if result.input_error and not self._decided:
            # A case that does not fit its kernel fits it nowhere.
            case = self.space.case(result.cell)
            raise InputError(f"{case.path}::{case.name}: {observation.reason}")
        self.ledger.add(result.row)
        if result.failure is not None:
            self.ledger.add_failure(result.failure)
        self._learn(result.cell, observation)

    def _learn(self, cell: Cell, observation: CellObservation) -> None:
        self._observations[cell] = observation
        self._decided |= observation.state is not CellState.UNTOLD
        self.strategy.learn(cell, observation)

    def _map(self) -> SweepMap:
        untold = next((seen for seen in self._observations.values() if seen.state is CellState.UNTOLD), None)
        if untold is not None and not self._decided:
            more = f" ({len(self._observations) - 1} more cells could not be told either)"
            raise EnvironmentFault(f"could not tell: {untold.reason}{more if len(self._observations) > 1 else ''}")
        return SweepMap(
            self.space.bases[0],
            self.space.grid,
            dict(sorted(self._observations.items())),
            failures(self._observations, self.ledger),
            self.strategy.predict(),
            interrupted=self.interrupted,
        )


def failures(observations: Mapping[Cell, CellObservation], ledger: Ledger) -> tuple[SweepFailure, ...]:
    """The failures of these cells, the most frequent first."""
    counts = Counter(seen.signature for seen in observations.values() if seen.signature is not None)
    described = ledger.failures()
    return tuple(
        described[signature].failure for signature, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    )


def known_cells(
    space: Space, rows: Iterator[LedgerRow], holds: Callable[[LedgerRow], bool], keys: CaseKeys
) -> dict[Cell, CellObservation]:
    """The results of a ledger that are cells of the space."""
    by_key = {row.key: row.observation for row in rows if holds(row)}
    if not by_key:
        return {}
    known = {}
    for cell in cells_of(space.grid.allowed):
        observation = by_key.get(keys.key(space.case(cell)))
        if observation is not None:
            known[cell] = observation
    return known
