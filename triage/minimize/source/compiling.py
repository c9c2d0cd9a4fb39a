"""Compiling specimens: the original until it is known how it fails, and candidates as trials for the oracle."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from triage.frontends.frontend import frontend
from triage.harness.limits import Limits
from triage.harness.request import Action, Attempt, FullCompile, Milestone, PartialCompile, Request
from triage.harness.toolchains import Toolchain
from triage.minimize.failure import Identity, OriginalFailure, reach
from triage.minimize.oracle import CountingRunner, Trial, undecided
from triage.minimize.problem import Verdict
from triage.minimize.result_folder import write
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import EnvironmentFault, InputError
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.source.package_copy import rewritten_case

_RUNS, _SLOW_RUNS, _SLOW_S = 5, 3, 5.0
"""Compiles of the original to see whether it always fails alike; fewer when it takes that long."""
_REST_S, _REST = 4.0, 4.0
"""How long an original that is over a limit of the hardware is compiled to see whether it fails before it is loaded: so
many seconds, and as many times what it took until that was known."""


@dataclass(frozen=True, slots=True)
class CandidateCompiler:
    """Compiles specimens with one toolchain, below ``folder``. ``limits`` are the original's. ``findings``: other
    failures that were met, headlines by signature."""

    runner: CountingRunner
    toolchain: Toolchain
    limits: Limits
    folder: Path
    findings: dict[str, str] = field(default_factory=dict)

    def learn(self, specimen: Specimen, repeat: int | None = None, until: float = math.inf) -> OriginalFailure:
        """Compile the original until it is known how reliably it fails; once in any case, no further time after
        ``until`` (monotonic seconds). Raises InputError when it does not fail or does not fit its kernel,
        EnvironmentFault when that cannot be decided."""
        asked = f"{specimen.case.path}::{specimen.case.name}"
        case = self.written(specimen)
        diagnosis, first = self._first(case, asked)
        if diagnosis is None and repeat is None:
            raise InputError(f"{asked}: does not fail: it compiles")
        most = max(_SLOW_RUNS if first.duration_s > _SLOW_S else _RUNS, repeat or 0)
        action = _action(reach(diagnosis, first) if diagnosis is not None and _ends_early(case) else None)
        again = takewhile(lambda _: time.monotonic() < until, itertools.repeat(action, most - 1))
        seen = list(self._compile_all(case, again, asked))
        runs = 1 + len(seen)
        plain = [(other, outcome) for other, outcome in seen if other is not None]
        if diagnosis is None:
            if not plain:
                raise InputError(f"{asked}: does not fail in {runs} compiles")
            diagnosis, first = plain[0]
        counted = Counter(Identity.of(other) for other, _ in plain)
        usual = counted.most_common(1)[0][0] if counted else Identity.of(diagnosis)
        rate = min(1.0, (counted[usual] + 1) / runs) if counted else 1 / runs
        if rate < 1.0 and usual.signature != diagnosis.signature:
            # The first run may have been the exception: keep the failure that is seen most.
            diagnosis, first = next(pair for pair in plain if Identity.of(pair[0]) == usual)
        return OriginalFailure(diagnosis, first, Identity.of(diagnosis), usual, rate)

    def _first(self, case: Case, asked: str) -> tuple[Diagnosis | None, Outcome]:
        """The original's failure, observed. ptxas may take minutes for what no GPU can hold, and is not waited for."""
        if not _ends_early(case):
            return self._compile(case, _action(None, observe=True), asked)
        early, outcome = self._compile(case, _action(Milestone.ALLOCATED, observe=True), asked)
        if early is None:
            return self._compile(case, _action(None, observe=True), asked)
        if outcome.over_limit is None:
            return early, outcome
        patience_s = _REST_S + _REST * outcome.duration_s
        limits = replace(self.limits, timeout_s=min(self.limits.timeout_s, patience_s))
        whole, outcome_of_whole = self._compile(case, _action(None, observe=True), asked, limits)
        return (early, outcome) if outcome_of_whole.status is Status.TIMEOUT else (whole, outcome_of_whole)

    def confirm(
        self, case: Case, failure: OriginalFailure, repeat: int, limits: Limits | None = None
    ) -> OriginalFailure | None:
        """The failure with the texts that a case on disk shows, compiled and observed as by ``triage check``; None
        where the case does not fail alike."""
        for _ in range(repeat):
            diagnosis, outcome = self._compile(case, _action(None, observe=True), limits=limits)
            if diagnosis is not None and Identity.of(diagnosis) == failure.identity:
                return replace(failure, diagnosis=diagnosis, outcome=outcome)
        return None

    def trials(self, failure: OriginalFailure) -> list[Trial[Specimen]]:
        """How candidates are run: without observing, and where the identity needs it, observed as well."""
        plain = _CompileTrial(self, failure, failure.plain, observe=False)
        if failure.plain == failure.identity:
            return [plain]
        observed = _CompileTrial(self, failure, failure.identity, observe=True)
        # To see one run out of time takes the whole limit: not twice.
        return [observed] if failure.diagnosis.kind is Kind.TIMEOUT else [plain, observed]

    def written(self, specimen: Specimen) -> Case:
        """The specimen on disk: in a copy of the user's package, or alone in a folder. Raises EnvironmentFault."""
        sliced = specimen.case.slice is not None
        if specimen.in_package:
            return specimen.case if sliced else rewritten_case(specimen.case, specimen.text, self.folder)
        home = (self.folder / specimen.key()).absolute()
        write(home / "kernel.py", specimen.text)
        alone = specimen.case.moved(home, "kernel.py")
        # It gets the same stand-ins as the slice that it was.
        return replace(alone, slice=alone.path) if sliced else alone

    def _compile(
        self, case: Case, action: Action, asked: str | None = None, limits: Limits | None = None
    ) -> tuple[Diagnosis | None, Outcome]:
        return next(self._compile_all(case, [action], asked, limits))

    def _compile_all(
        self, case: Case, actions: Iterable[Action], asked: str | None = None, limits: Limits | None = None
    ) -> Iterator[tuple[Diagnosis | None, Outcome]]:
        for attempt in self.runner.run(
            Request(case, self.toolchain, limits or self.limits, action) for action in actions
        ):
            result = attempt.result
            if isinstance(result, Undecided):
                asked = asked or f"{case.path}::{case.name}"
                if result.input_error:
                    raise InputError(f"{asked}: {result.reason}")
                raise EnvironmentFault(f"{asked}: could not tell: {result.reason}")
            yield attempt.diagnosis, result


def _ends_early(case: Case) -> bool:
    return frontend(case.language).has_stages


def _action(until: Stage | Milestone | None, observe: bool = False) -> Action:
    return PartialCompile(until, observe) if until else FullCompile(observe, use_cache=False)


@dataclass(frozen=True, slots=True)
class _CompileTrial:
    compiler: CandidateCompiler
    failure: OriginalFailure
    wanted: Identity
    observe: bool

    def request(self, candidate: Specimen) -> Request:
        return Request(
            self.compiler.written(candidate),
            self.compiler.toolchain,
            self.failure.candidate_limits(self.compiler.limits),
            _action(self.failure.until if _ends_early(candidate.case) else None, self.observe),
        )

    def verdict(self, attempt: Attempt) -> Verdict:
        if (verdict := undecided(attempt)) is not None:
            return verdict
        if attempt.diagnosis is None:
            return Verdict.COMPILES
        if Identity.of(attempt.diagnosis) == self.wanted:
            return Verdict.SAME
        self.compiler.findings.setdefault(attempt.diagnosis.signature, attempt.diagnosis.headline)
        # What fails only when it would be loaded has got past everything else.
        past = isinstance(attempt.result, Outcome) and attempt.result.over_limit and not self.failure.outcome.over_limit
        return Verdict.COMPILES if past else Verdict.OTHER
