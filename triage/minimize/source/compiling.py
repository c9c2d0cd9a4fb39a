"""Compiling specimens: the original until it is known how it fails, and candidates as trials for the oracle."""

import math
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, PartialCompile, Request
from triage.harness.toolchains import Toolchain
from triage.minimize.failure import Identity, OriginalFailure
from triage.minimize.oracle import CountingRunner, Trial, undecided
from triage.minimize.problem import Verdict
from triage.minimize.result_folder import write
from triage.minimize.source.specimen import Specimen
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import EnvironmentFault, InputError
from triage.model.outcome import Outcome, Undecided
from triage.source.package_copy import rewritten_case

_RUNS, _SLOW_RUNS, _SLOW_S = 5, 3, 5.0
"""Compiles of the original to see whether it always fails alike; fewer when it takes that long."""


@dataclass(frozen=True, slots=True)
class Compiler:
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
        EnvironmentFault when it cannot be told."""
        asked = f"{specimen.case.path}::{specimen.case.name}"
        case = self.written(specimen)
        diagnosis, first = self._compile(case, observe=True, asked=asked)
        if diagnosis is None and repeat is None:
            raise InputError(f"{asked}: does not fail: it compiles")
        most = max(_SLOW_RUNS if first.duration_s > _SLOW_S else _RUNS, repeat or 0)
        seen: list[tuple[Diagnosis | None, Outcome]] = []
        while 1 + len(seen) < most and time.monotonic() < until:
            seen.append(self._compile(case, observe=False, asked=asked))
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

    def confirm(
        self, case: Case, failure: OriginalFailure, repeat: int, limits: Limits | None = None
    ) -> OriginalFailure | None:
        """The failure with the texts that a case on disk shows, compiled and observed as by ``triage check``; None
        where the case does not fail alike."""
        for _ in range(repeat):
            diagnosis, outcome = self._compile(case, observe=True, limits=limits)
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
        if specimen.in_package:
            return rewritten_case(specimen.case, specimen.text, self.folder)
        home = self.folder / specimen.key()
        write(home / "kernel.py", specimen.text)
        return replace(specimen.case, folder=home, file="kernel.py")

    def _compile(
        self, case: Case, observe: bool, asked: str | None = None, limits: Limits | None = None
    ) -> tuple[Diagnosis | None, Outcome]:
        action = FullCompile(observe, use_cache=False)
        attempt = self.runner.one(Request(case, self.toolchain, limits or self.limits, action))
        result = attempt.result
        if isinstance(result, Undecided):
            asked = asked or f"{case.path}::{case.name}"
            if result.input_error:
                raise InputError(f"{asked}: {result.reason}")
            raise EnvironmentFault(f"{asked}: could not tell: {result.reason}")
        return attempt.diagnosis, result


@dataclass(frozen=True, slots=True)
class _CompileTrial:
    compiler: Compiler
    failure: OriginalFailure
    wanted: Identity
    observe: bool

    def request(self, candidate: Specimen) -> Request:
        until = self.failure.until
        return Request(
            self.compiler.written(candidate),
            self.compiler.toolchain,
            self.failure.candidate_limits(self.compiler.limits),
            PartialCompile(until, self.observe) if until else FullCompile(self.observe, use_cache=False),
        )

    def verdict(self, attempt: Attempt) -> Verdict:
        if (verdict := undecided(attempt)) is not None:
            return verdict
        if attempt.diagnosis is None:
            return Verdict.COMPILES
        if Identity.of(attempt.diagnosis) == self.wanted:
            return Verdict.SAME
        self.compiler.findings.setdefault(attempt.diagnosis.signature, attempt.diagnosis.headline)
        return Verdict.OTHER
