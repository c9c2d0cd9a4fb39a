"""What the static model does in one search: it begins walks, and estimates what compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.outcome import Outcome, Resources
from triage.model.report import ExpectedTime
from triage.performance.estimate import estimate
from triage.performance.estimate.resources import stages_of
from triage.performance.estimate.work import BlockWork, bodies
from triage.source.parameters import KernelSource
from triage.suggest.budget import ENOUGH
from triage.suggest.configuration import DEFAULT_WARPS
from triage.suggest.neighbour import Neighbour, configuration
from triage.suggest.proposal import Move, Proposal
from triage.suggest.tuning.expectations import Chosen, Expectations, relative_to
from triage.suggest.tuning.space import Space
from triage.suggest.tuning.tuner import Tuner


@dataclass(frozen=True, slots=True)
class Tuning:
    """``case`` failed, ``source`` is the text of its file, ``resources`` are what it takes where only its launch would
    fail. ``begins``: the failure is of resources, so the model's proposals are compiled before those of the other
    generators. ``enough``: as for ``Tuner``."""

    case: Case
    toolchain: Toolchain
    source: str
    facts: KernelSource
    begins: bool
    expectations: Expectations
    resources: Resources | None = None
    enough: int = ENOUGH

    def begin(self, changes: Mapping[str, Any], is_repair: bool = False) -> Tuner | None:
        """A search that starts at the failing case with ``changes``; None where its TTIR or the target's rates are not
        known. ``is_repair``: with those it compiles and spills, so the same values may change further."""
        base = self.case.with_changes(changes)
        work = self.expectations.work(base)
        if work is None or estimate.machine(base.target) is None:
            return None
        onward = dict(self._directions(changes)) if is_repair else {}
        space = Space(base, self.source, multiplies(work), changes, pipelines(work), onward)
        tuner = Tuner(self.case, self.toolchain, space, self.expectations, self.enough)
        tuner.learn(self.case, {}, self.resources)
        return tuner

    def _directions(self, changes: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
        """Numbers that were changed, and whether they became less."""
        defaults = {"num_warps": DEFAULT_WARPS, "num_stages": stages_of(self.case)}
        before = {**defaults, **self.case.options, **self.case.constexprs}
        for name, value in changes.items():
            if type(value) is int and type(before.get(name)) is int:
                yield name, value < before[name]

    def neighbour(self, proposal: Proposal) -> Neighbour:
        """The neighbour that compiles a proposal of the search."""
        return configuration(self.case, self.toolchain, self.facts, proposal)

    def chosen_before(self) -> Neighbour | None:
        """What an earlier search chose for a configuration with the same work, resources and options: the model cannot
        tell the two apart. None without one."""
        key = self._alike
        chosen = self.expectations.chosen.get(key) if key is not None else None
        if chosen is None or self._values(chosen.proposal.changes) != chosen.before:
            return None
        return self.neighbour(chosen.proposal)

    def choose(self, neighbour: Neighbour) -> None:
        """Remember the choice of this search for those to come."""
        if (key := self._alike) is not None:
            proposal = Proposal(neighbour.changes, Move.TILE, 0.0, neighbour.distance, neighbour.why)
            self.expectations.chosen.setdefault(key, Chosen(proposal, self._values(neighbour.changes)))

    @property
    def _alike(self) -> str | None:
        """Equal for failing configurations that the model does not tell apart; None where there is no TTIR."""
        work = self.expectations.work(self.case)
        options = sorted(self.case.options.items())
        return None if work is None else repr((str(self.case.target), self.toolchain, work, options, self.resources))

    def _values(self, names: Iterable[str]) -> dict[str, Any]:
        values = {**self.case.options, **self.case.constexprs}
        return {name: values.get(name) for name in names}

    def asked(self, outcome: Outcome) -> estimate.TimeEstimate | None:
        """Estimate for the failing configuration as if it compiled."""
        return self.expectations.of(self.case, outcome.resources, fits=False)

    def expected(
        self, case: Case, resources: Resources | None, asked: estimate.TimeEstimate | None
    ) -> ExpectedTime | None:
        """Estimated time of a compiled case relative to the configuration that was asked for."""
        proposed = self.expectations.of(case, resources)
        return None if proposed is None else relative_to(proposed, asked)


def multiplies(work: BlockWork) -> bool:
    """Whether a kernel has a matrix product."""
    return any(body.dots for _, body in bodies(work.body))


def pipelines(work: BlockWork) -> bool:
    """Whether stages matter: a loop loads what a matrix product reads, and states no number of its own."""
    loops = [loop for _, body in bodies(work.body) for loop in body.loops]
    return any(loop.stages is None and loop.body.dots and loop.body.loads for loop in loops)
