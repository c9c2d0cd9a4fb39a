"""The failure that must stay the same, and how long and how often candidates are run to see it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from triage.harness.limits import Limits
from triage.harness.request import Milestone
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.outcome import Outcome, Stage, Status

_PATIENCE_S, _SLOWEST = 15.0, 4.0
"""A candidate may take this many times what the original took, but at least that long."""
_HANG_S = 10.0
"""A compile that has not ended in that time, or in ``_SLOWEST`` times what the stages before took, counts as hanging
where the original hangs."""
_MARGIN, _MARGIN_S = 1.5, 5.0
"""A candidate has to run that much longer: what is reduced while it is slow enough ends up only just slow enough, and
would end in time on another day."""
_MOST_REPEATS = 20
_SEEN = 0.95
"""Probability with which a candidate that fails as rarely as the original is seen to fail."""
_TELLING = frozenset({Stage.TTIR, Stage.TTGIR, Stage.LLIR, Stage.PTX, Stage.AMDGCN})


@dataclass(frozen=True, slots=True)
class Identity:
    """What must stay the same. The signature names the bug; function, exception and stage tell apart failures that
    share a signature."""

    signature: str
    function: str | None
    exception: str | None
    stage: str | None

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> Identity:
        """The identity of a failure."""
        return cls(diagnosis.signature, diagnosis.function, diagnosis.exception, diagnosis.stage)


def reach(diagnosis: Diagnosis, outcome: Outcome) -> Stage | Milestone | None:
    """How far a kernel has to be compiled to fail like this: what gets past that does not. None: to the end.

    The limits that only a launch checks are of numbers that are known once memory is allocated: LLVM takes most of a
    compile's time, and ptxas may take minutes for a kernel that no GPU can hold."""
    if diagnosis.kind is Kind.OUT_OF_RESOURCES and outcome.over_limit:
        return Milestone.ALLOCATED
    if outcome.stage is Stage.LLIR and outcome.pipeline:
        return Milestone.CONVERTED
    stage = Stage.TTIR if outcome.stage is Stage.SOURCE else outcome.stage
    return stage if stage in _TELLING else None


@dataclass(frozen=True, slots=True)
class OriginalFailure:
    """The original's failure. ``plain`` is its identity without an observing run (the same unless the signature needs
    the pass's name). ``rate``: the share of runs that showed it."""

    diagnosis: Diagnosis
    outcome: Outcome
    identity: Identity
    plain: Identity
    rate: float

    @property
    def repeats(self) -> int:
        """Runs that a candidate needs."""
        if self.rate >= 1.0:
            return 1
        return min(math.ceil(math.log(1 - _SEEN) / math.log(1 - self.rate)), _MOST_REPEATS)

    @property
    def until(self) -> Stage | Milestone | None:
        """How far a candidate has to be compiled, where a compile can be ended early."""
        return reach(self.diagnosis, self.outcome)

    def hang_s(self, limits: Limits) -> float | None:
        """Seconds after which a candidate counts as hanging; None where the original does not run out of time."""
        if self.outcome.status is not Status.TIMEOUT:
            return None
        stages_s = sum(stage.seconds for stage in self.outcome.stages)
        return min(limits.timeout_s, max(_HANG_S, _SLOWEST * stages_s))

    def candidate_limits(self, limits: Limits) -> Limits:
        """The limits for candidates, given those of the original."""
        if (hang_s := self.hang_s(limits)) is not None:
            return replace(limits, timeout_s=_MARGIN * hang_s + _MARGIN_S)
        bound = max(_PATIENCE_S, _SLOWEST * self.outcome.duration_s)
        return replace(limits, timeout_s=min(limits.timeout_s, bound))
