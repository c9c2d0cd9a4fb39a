"""The time that each neighbour is expected to take, against the configuration that was asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from triage.filesystem.files import read_file
from triage.harness.artifacts import MOST_BYTES, give_up
from triage.harness.limits import Limits
from triage.harness.request import Attempt, PartialCompile, Request
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.outcome import Outcome, Resources, Stage, Status
from triage.model.report import ExpectedTime
from triage.performance.cost import DOUBT
from triage.performance.estimate import estimate
from triage.performance.estimate.reader import read
from triage.performance.estimate.work import TYPICAL, BlockWork
from triage.suggest.proposal import Proposal


@dataclass(slots=True)
class Corrections:
    """What compiles showed of the predicted resources: factors of the shared memory, differences of the registers, and
    copies between registers that nothing predicts."""

    shared: list[float] = field(default_factory=list)
    registers: list[float] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a search chose, and the values that it changes."""

    proposal: Proposal
    before: Mapping[str, Any]


@dataclass(slots=True)
class Expectations:
    """Asks for the TTIR of cases, and estimates. ``extent``: of a problem's axis where the case states no sizes;
    ``spent_s``: how long the front end took for the answers of a search; ``chosen``: by what the choice depended on."""

    limits: Limits
    extent: int = TYPICAL
    spent_s: float = 0.0
    chosen: dict[str, Chosen] = field(default_factory=dict)
    _works: dict[str, BlockWork | None] = field(default_factory=dict)
    _waiting: set[str] = field(default_factory=set)
    _corrections: dict[str, Corrections] = field(default_factory=dict)

    def begin(self) -> None:
        """Another search: the front end may take as long again."""
        self.spent_s = 0.0

    def ask(self, case: Case, toolchain: Toolchain) -> Iterator[Request]:
        """The request for a case's TTIR, unless it was made before."""
        key = _key(case)
        if key not in self._works and key not in self._waiting:
            self._waiting.add(key)
            yield Request(case, toolchain, self.limits, PartialCompile(Stage.TTIR, keep=True), tag=self)

    def corrections(self, case: Case) -> Corrections:
        """What is known of configurations with the same types, for the same target."""
        return self._corrections.setdefault(json.dumps([str(case.target), dict(case.signature)]), Corrections())

    def __len__(self) -> int:
        return len(self._works) + len(self._waiting)

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._waiting)

    def take(self, attempt: Attempt) -> None:
        """An answer."""
        case = attempt.request.case
        key = _key(case)
        self._waiting.discard(key)
        self._works[key] = None
        outcome = attempt.result
        if not isinstance(outcome, Outcome):
            return
        self.spent_s += outcome.duration_s
        if outcome.status is Status.OK and "ttir" in outcome.artifacts:
            problem = self.sizes(case)
            path = outcome.artifacts["ttir"]
            text = read_file(path, path.parent, MOST_BYTES).decode(errors="replace")
            self._works[key] = read(text, problem.sizes, problem.extent)
        give_up(outcome.artifacts.values())

    def sizes(self, case: Case) -> estimate.ProblemSizes:
        """The problem of a case."""
        return estimate.ProblemSizes.of(case, self.extent)

    def work(self, case: Case) -> BlockWork | None:
        """What was read for a case."""
        return self._works.get(_key(case))

    def has(self, case: Case) -> bool:
        """Whether the answer for a case is there, whatever it is."""
        return _key(case) in self._works

    def of(self, case: Case, resources: Resources | None, fits: bool = True) -> estimate.TimeEstimate | None:
        """The estimate for a case; ``fits``: as for ``estimate.of_work``."""
        work = self.work(case)
        return None if work is None else estimate.of_work(work, case, resources, self.sizes(case), fits)


def _key(case: Case) -> str:
    """Equal for cases of one source whose TTIR is the same: warps and stages come later."""
    values = {name: str(value) for values in (case.signature, case.constexprs) for name, value in values.items()}
    return json.dumps([str(case.path), str(case.slice), case.name, str(case.target), values], sort_keys=True)


def relative_to(proposed: estimate.TimeEstimate, asked: estimate.TimeEstimate | None) -> ExpectedTime | None:
    """Estimated time as a multiple of that of the configuration that was asked for; None where that has none."""
    if asked is None:
        return None
    ratio = proposed.seconds / asked.seconds
    return ExpectedTime((round(ratio / DOUBT, 2), round(ratio * DOUBT, 2)), proposed.bound.value)
