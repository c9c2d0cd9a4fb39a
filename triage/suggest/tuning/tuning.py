"""What the static model does in one search: it begins walks, and estimates what compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.outcome import Outcome, Resources
from triage.model.report import ExpectedTime
from triage.performance.estimate import estimate
from triage.performance.estimate.work import BlockWork, bodies
from triage.source.parameters import KernelSource
from triage.suggest.neighbour import Neighbour, configuration
from triage.suggest.proposal import Proposal
from triage.suggest.tuning.expectations import Expectations, against
from triage.suggest.tuning.space import Space
from triage.suggest.tuning.tuner import Tuner


@dataclass(frozen=True, slots=True)
class Tuning:
    """``case`` is the failing one, ``source`` the text of its file. ``begins``: its failure is of resources, so the
    model has the first word."""

    case: Case
    toolchain: Toolchain
    source: str
    facts: KernelSource
    begins: bool
    expectations: Expectations

    def begin(self, changes: Mapping[str, Any]) -> Tuner | None:
        """A walk from the failing case with ``changes``; None where nothing is known of its work."""
        base = self.case.with_changes(changes)
        work = self.expectations.work(base)
        if work is None or estimate.machine(base.target) is None:
            return None
        space = Space(base, self.source, multiplies(work), changes, pipelines(work))
        return Tuner(self.case, self.toolchain, space, self.expectations)

    def neighbour(self, proposal: Proposal) -> Neighbour:
        """To compile what a walk proposes."""
        return configuration(self.case, self.toolchain, self.facts, proposal)

    def asked(self, outcome: Outcome) -> estimate.TimeEstimate | None:
        """What the failing configuration would take if it compiled."""
        return self.expectations.of(self.case, outcome.resources, fits=False)

    def expected(
        self, case: Case, resources: Resources | None, asked: estimate.TimeEstimate | None
    ) -> ExpectedTime | None:
        """The time of what compiled, against what was asked for."""
        found = self.expectations.of(case, resources)
        return None if found is None else against(found, asked)


def multiplies(work: BlockWork) -> bool:
    """Whether a kernel has a matrix product."""
    return any(body.dots for _, body in bodies(work.body))


def pipelines(work: BlockWork) -> bool:
    """Whether stages matter: a loop loads what a matrix product reads, and states no number of its own."""
    loops = [loop for _, body in bodies(work.body) for loop in body.loops]
    return any(loop.stages is None and loop.body.dots and loop.body.loads for loop in loops)
