"""Runs a sweep: what the ledger has is learnt first, what a strategy proposes is compiled, results are written as they
come, and the rules are tested by further compiles. The result is the map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from triage.model.errors import EnvironmentFault, InputError
from triage.model.progress import Progress
from triage.sweeps.backends import Backend, SweepResult
from triage.sweeps.grid import Cell, cells_of
from triage.sweeps.keys import CaseKeys
from triage.sweeps.ledger import Ledger, LedgerRow
from triage.sweeps.map import SweepMap
from triage.sweeps.observation import CellObservation, CellState, SweepFailure
from triage.sweeps.pace import Pace
from triage.sweeps.purpose import CellPurpose
from triage.sweeps.rules.search import RuleSearch
from triage.sweeps.space import Space
from triage.sweeps.strategy import Strategy


@dataclass(slots=True)
class SweepRunner:
    """``known``: results of the ledger by cell; ``purposes``: why some of them were compiled. ``most``: compiles that
    are expected at the most; ``jobs``: how many cells are asked for at a time."""

    space: Space
    backend: Backend
    ledger: Ledger
    known: Mapping[Cell, CellObservation] = field(default_factory=dict)
    purposes: Mapping[Cell, CellPurpose] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    most: int = 0
    jobs: int = 1
    compiled: int = 0
    """How many cells were compiled."""
    stored: int = 0
    """Results of them that are in the ledger."""
    interrupted: bool = False
    _observations: dict[Cell, CellObservation] = field(default_factory=dict)
    _under_way: int = 0
    _decided: bool = False

    def run(self, strategy: Strategy, budget: int | None, learns_rules: bool = True) -> SweepMap:
        """The map. ``budget``: compiles at most; those that the strategy leaves test the rules. An interrupt ends it,
        with the cells until then; where there are none, KeyboardInterrupt is raised.

        Raises InputError where the case does not fit its kernel, EnvironmentFault where no cell was decided."""
        pace = Pace(self.most)
        for cell, observation in self.known.items():
            self._learn(strategy, cell, observation, self.purposes.get(cell))
            pace.add(observation, known=True)
        search: RuleSearch | None = None
        try:
            self._compile(strategy, pace)
            if learns_rules:
                self.progress.step("learning rules")
                left = None if budget is None else max(0, budget - self.compiled)
                search = RuleSearch(
                    self.space.grid,
                    self._observations,
                    self.space.bases[0].target,
                    strategy,
                    left,
                    tested(self.purposes),
                )
                self._compile(search, pace)
        except KeyboardInterrupt:
            self.interrupted = True
            if not self._observations:
                raise
        self._check_decided()
        sweep = assembled(self.space, self._observations, self.ledger)
        sweep = replace(sweep, predicted=strategy.predict(), interrupted=self.interrupted)
        return sweep if search is None else with_rules(sweep, search)

    def _compile(self, strategy: Strategy, pace: Pace) -> None:
        self._under_way = 0
        for results in self.backend.results(self._proposed(strategy)):
            with self.ledger.together():
                for result in results:
                    self._take(strategy, result)
                    pace.add(result.row.observation)
            self.progress.step(pace.line)

    def _proposed(self, strategy: Strategy) -> Iterator[Cell | None]:
        while not strategy.is_done:
            cells = strategy.propose(self.jobs)
            for cell in cells:
                self._under_way += 1
                yield cell
            if not cells:
                if not self._under_way:
                    return  # It waits for nothing.
                yield None

    def _take(self, strategy: Strategy, result: SweepResult) -> None:
        self._under_way -= 1
        self.compiled += 1
        observation = result.row.observation
        if result.input_error and not self._decided:
            # A case that does not fit its kernel fits it nowhere.
            case = self.space.case(result.cell)
            raise InputError(f"{case.path}::{case.name}: {observation.reason}")
        self.stored += observation.state is not CellState.UNTOLD
        self.ledger.add(replace(result.row, purpose=strategy.purpose(result.cell)))
        if result.failure is not None:
            self.ledger.add_failure(result.failure)
        self._learn(strategy, result.cell, observation)

    def _learn(
        self, strategy: Strategy, cell: Cell, observation: CellObservation, purpose: CellPurpose | None = None
    ) -> None:
        self._observations[cell] = observation
        self._decided |= observation.state is not CellState.UNTOLD
        strategy.learn(cell, observation, purpose)

    def _check_decided(self) -> None:
        if self._observations and not self._decided:
            first, more = next(iter(self._observations.values())), len(self._observations) - 1
            others = f" ({more} more cells could not be told either)" if more else ""
            raise EnvironmentFault(f"could not tell: {first.reason}{others}")


def assembled(space: Space, observations: Mapping[Cell, CellObservation], ledger: Ledger) -> SweepMap:
    """The map of what was compiled; its failures as the ledger describes them, the most frequent first."""
    counts = Counter(seen.signature for seen in observations.values() if seen.signature is not None)
    described = ledger.failures()
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    failures = tuple(described[signature].failure for signature, _ in ordered)
    kernels = len({(case.file, case.name) for case in space.bases})
    return SweepMap(space.bases[0], space.grid, dict(sorted(observations.items())), failures, kernels=kernels)


def with_rules(sweep: SweepMap, search: RuleSearch) -> SweepMap:
    """The map with the rules of a search, each with the knowledge entry that explains its failure."""
    entries = {failure.signature: _entry(failure) for failure in sweep.failures}

    def explain(signature: str, cells: Sequence[Cell]) -> str | None:
        return entries.get(signature)

    return replace(sweep, rules=tuple(search.rules(sweep.letters, explain)))


def obstacles(space: Space) -> dict[Cell, CellObservation]:
    """The cells that cannot be compiled, and why."""
    if not space.is_list:
        return {}
    reasons = ((cell, space.obstacle(cell)) for cell in cells_of(space.grid.allowed))
    return {cell: CellObservation(CellState.UNTOLD, reason=reason) for cell, reason in reasons if reason}


def tested(purposes: Mapping[Cell, CellPurpose]) -> list[Cell]:
    """The cells that were compiled to refute a rule."""
    return [cell for cell, purpose in purposes.items() if purpose.tests_rule]


def _entry(failure: SweepFailure) -> str | None:
    return next((str(match["id"]) for match in failure.matches if not match.get("generic")), None)


def known_rows(
    space: Space, rows: Iterator[LedgerRow], holds: Callable[[LedgerRow], bool], keys: CaseKeys
) -> dict[Cell, LedgerRow]:
    """The results of a ledger that are cells of the space, in their order."""
    by_key = {row.key: row for row in rows if holds(row)}
    cells = space.candidates(row.configuration for row in by_key.values())
    seen = ((cell, by_key.get(keys.key(space.case(cell)))) for cell in cells) if by_key else ()
    return {cell: row for cell, row in seen if row is not None}
