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
from triage.suggest.tuning.expectations import Expectations, relative_to
from triage.suggest.tuning.space import Space
from triage.suggest.tuning.tuner import Tuner


@dataclass(frozen=True, slots=True)
class Tuning:
    """``case`` failed, ``source`` is the text of its file. ``begins``: the failure is of resources, so the model's
    proposals are compiled before those of the other generators."""

    case: Case
    toolchain: Toolchain
    source: str
    facts: KernelSource
    begins: bool
    expectations: Expectations

    def begin(self, changes: Mapping[str, Any]) -> Tuner | None:
        """A search that starts at the failing case with ``changes``; None where its TTIR or the target's rates are not
        known."""
        base = self.case.with_changes(changes)
        work = self.expectations.work(base)
        if work is None or estimate.machine(base.target) is None:
            return None
        space = Space(base, self.source, multiplies(work), changes, pipelines(work))
        return Tuner(self.case, self.toolchain, space, self.expectations)

    def neighbour(self, proposal: Proposal) -> Neighbour:
        """The neighbour that compiles a proposal of the search."""
        return configuration(self.case, self.toolchain, self.facts, proposal)

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
