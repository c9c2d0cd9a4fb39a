"""Does a candidate still show the failure? Compiled in isolation, answered by the exact identity of what failed.

There are three answers, and the third is never read as one of the others: an oracle that cannot tell again and again
is broken, and ends the reduction with what was found so far.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, PartialCompile, Request
from triage.harness.toolchains import Toolchain
from triage.minimize.specimen import Specimen
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis, Kind
from triage.model.errors import EnvironmentFault, InputError
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.source.package_copy import rewritten_case

_RUNS, _SLOW_RUNS, _SLOW_S = 5, 3, 5.0
"""How often the original is compiled to see whether it always fails alike; less often when it takes that long."""
_PATIENCE_S, _SLOWEST = 15.0, 4.0
"""A candidate may take this many times what the original took, but at least that long."""
_HANG_S = 10.0
"""What has not ended in that time, or in ``_SLOWEST`` times what the stages before took, is taken to hang where the
original does."""
_MARGIN, _MARGIN_S = 1.5, 5.0
"""A candidate has to run that much longer: what is reduced while it is slow enough ends up just slow enough, and would
be in time on another day."""
_MOST_UNKNOWN = 3
"""That many candidates in a row that could not be judged, each tried twice: it is the oracle."""
_MOST_REPEATS = 20
_CHECK_EVERY = 200
"""Compiles after which the best so far is compiled again: an oracle may break in ways that look like an answer."""


class Verdict(str, Enum):
    """What a candidate does. ``INVALID`` never got as far as a compile."""

    SAME = "same"
    OTHER = "other"
    COMPILES = "compiles"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class BudgetUsed(Exception):
    """No more compiles, or no more time; the best so far is the result."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What must stay the same. The signature names the bug; function, exception and stage keep apart what one
    signature may cover."""

    signature: str
    function: str | None
    exception: str | None
    stage: str | None

    @classmethod
    def of(cls, diagnosis: Diagnosis) -> Identity:
        """That of a failure."""
        return cls(diagnosis.signature, diagnosis.function, diagnosis.exception, diagnosis.stage)


@dataclass(frozen=True, slots=True)
class Failure:
    """The original's failure. ``plain`` is its identity without an observing run (the same unless the signature needs
    the pass's name). ``rate``: in what share of the runs it showed."""

    diagnosis: Diagnosis
    outcome: Outcome
    identity: Identity
    plain: Identity
    rate: float

    @property
    def observed(self) -> bool:
        """Whether candidates must be observed as well."""
        return self.plain != self.identity

    @property
    def until(self) -> Stage | None:
        """The stage that tells: what gets through it does not fail alike, whatever comes after. How much shared or
        tensor memory a kernel asks for is known behind llir; only binaries that are loaded need all of it."""
        if self.diagnosis.kind is Kind.OUT_OF_RESOURCES and self.outcome.over_limit:
            return Stage.LLIR
        stage = Stage.TTIR if self.outcome.stage is Stage.SOURCE else self.outcome.stage
        return stage if stage in _TELLING else None


_TELLING = frozenset({Stage.TTIR, Stage.TTGIR, Stage.LLIR, Stage.PTX, Stage.AMDGCN})


@dataclass(slots=True)
class Oracle:
    """Compiles candidates below ``folder``. ``most``/``until`` bound the compiles and the time (monotonic). ``limits``
    are the original's; a candidate's time is bounded by what the original took.

    ``told`` hears each verdict, ``same`` each candidate that still fails alike, as soon as it is known; ``best`` gives
    the best so far. ``findings``: other failures that were met, by signature."""

    engine: Engine
    toolchain: Toolchain
    limits: Limits
    folder: Path
    most: int
    until: float
    repeat: int = 1
    siblings: bool = True
    compiles: int = 0
    known: dict[str, Verdict] = field(default_factory=dict)
    findings: dict[str, str] = field(default_factory=dict)
    told: Callable[[str, Verdict], None] = lambda key, verdict: None
    same: Callable[[Specimen], None] = lambda specimen: None
    best: Callable[[], Specimen | None] = lambda: None
    _failure: Failure | None = None
    _bounded: Limits = field(default_factory=Limits)
    _hang_s: float | None = None
    _asked: str = ""
    _unknown: int = 0
    _checked: int = 0

    # ---- the original

    def learn(self, specimen: Specimen, repeat: int | None) -> Failure:
        """Compile the original until it is known how reliably it fails. Raises InputError when it does not fail or does
        not fit its kernel, EnvironmentFault when it cannot be told."""
        self._asked = f"{specimen.case.path}::{specimen.case.name}"
        case = self._place(specimen)
        attempt, first = self._run(case, observe=True)
        diagnosis = attempt.diagnosis
        if diagnosis is None and repeat is None:
            raise InputError(f"{specimen.case.path}::{specimen.case.name}: does not fail: it compiles")
        runs = _SLOW_RUNS if first.duration_s > _SLOW_S else _RUNS
        runs = max(runs, repeat or 0)
        seen = [(diagnosis, first)] if diagnosis else []
        plain = []
        for _ in range(runs - 1):
            attempt, outcome = self._run(case, observe=False)
            if (found := attempt.diagnosis) is not None:
                plain.append((found, outcome))
        if diagnosis is None:
            if not plain:
                raise InputError(f"{specimen.case.path}::{specimen.case.name}: does not fail in {runs} compiles")
            seen = [plain[0]]
        diagnosis, first = seen[0]
        counted = Counter(Identity.of(found) for found, _ in plain)
        usual = counted.most_common(1)[0][0] if counted else Identity.of(diagnosis)
        rate = min(1.0, (counted[usual] + 1) / runs) if counted else 1 / runs
        if rate < 1.0 and usual.signature != diagnosis.signature:
            # The first run may have been the odd one out: pin what is seen most.
            diagnosis, first = next(one for one in plain if Identity.of(one[0]) == usual)
        self._failure = Failure(diagnosis, first, Identity.of(diagnosis), usual, rate)
        # Repeats enough to see it with 95 %.
        needed = 1 if rate >= 1.0 else math.ceil(math.log(0.05) / math.log(1 - rate))
        self.repeat = repeat or min(needed, _MOST_REPEATS)
        if first.status is Status.TIMEOUT:
            hang = max(_HANG_S, _SLOWEST * sum(stage.seconds for stage in first.stages))
            self._hang_s = min(self.limits.timeout_s, hang)
            self._bounded = replace(self.limits, timeout_s=_MARGIN * self._hang_s + _MARGIN_S)
        else:
            bound = max(_PATIENCE_S, _SLOWEST * first.duration_s)
            self._bounded = replace(self.limits, timeout_s=min(self.limits.timeout_s, bound))
        self.known[specimen.key()] = Verdict.SAME
        return self._failure

    def confirm(self, case: Case) -> tuple[Diagnosis, Outcome] | None:
        """The failure of a case on disk, observed, as ``triage check`` would see it; None when it compiles."""
        last: tuple[Diagnosis, Outcome] | None = None
        for _ in range(max(self.repeat, 1)):
            attempt, outcome = self._run(case, observe=True)
            diagnosis = attempt.diagnosis
            last = (diagnosis, outcome) if diagnosis else last
            if diagnosis is not None and Identity.of(diagnosis) == self.failure.identity:
                break
        return last

    def shorten(self) -> bool:
        """For what is slow, not endless: from now on the limit is the time that candidates were seen to run into.
        Whether that is less than it was."""
        if self._hang_s is None or self._hang_s >= self.limits.timeout_s:
            return False
        self.limits = replace(self.limits, timeout_s=self._hang_s)
        return True

    @property
    def failure(self) -> Failure:
        """What was learnt of the original."""
        assert self._failure is not None
        return self._failure

    def _run(self, case: Case, observe: bool, bounded: bool = False) -> tuple[Attempt, Outcome]:
        limits = self._bounded if bounded else self.limits
        request = Request(case, self.toolchain, limits, FullCompile(observe, use_cache=False))
        attempt = next(iter(self.engine.run([request])))
        self.compiles += 1
        result = attempt.result
        if isinstance(result, Undecided):
            # Candidates lie in folders of triage's own, which nobody has asked about.
            where = self._asked or f"{case.path}::{case.name}"
            if result.input_error:
                raise InputError(f"{where}: {result.reason}")
            raise EnvironmentFault(f"{where}: could not tell: {result.reason}")
        return attempt, result

    # ---- candidates

    def ask(self, candidates: Sequence[Specimen | None]) -> list[Verdict]:
        """A verdict for each; None is invalid. Raises BudgetUsed, and EnvironmentFault when the oracle is broken."""
        self._still_works()
        verdicts = [Verdict.INVALID] * len(candidates)
        waiting: dict[str, Specimen] = {}
        for candidate in candidates:
            if candidate is not None and candidate.key() not in self.known:
                waiting.setdefault(candidate.key(), candidate)
        for _ in range(2):  # What could not be told is tried once more.
            waiting = self._judge_all(waiting)
        self._unknown = self._unknown + len(waiting) if waiting else 0
        if self._unknown >= _MOST_UNKNOWN:
            raise EnvironmentFault(
                f"{self._unknown} candidates in a row could not be judged, each tried twice; the best so far is kept"
            )
        for place, candidate in enumerate(candidates):
            if candidate is not None:
                verdicts[place] = self.known.get(candidate.key(), Verdict.UNKNOWN)
        return verdicts

    def _still_works(self) -> None:
        if self.compiles - self._checked < _CHECK_EVERY or (best := self.best()) is None:
            return
        self._checked = self.compiles
        for _ in range(self.repeat * 2):
            attempt, _ = self._run(self._place(best), observe=self.failure.observed, bounded=True)
            if self._judge(attempt, self.failure.identity) is Verdict.SAME:
                return
        raise EnvironmentFault("the best so far no longer fails as it did; something outside has changed")

    def _judge_all(self, waiting: dict[str, Specimen]) -> dict[str, Specimen]:
        """Compile them; gives back those that are still undecided."""
        failure = self.failure
        if failure.observed and failure.diagnosis.kind is Kind.TIMEOUT:
            # To see it end as the original does takes its whole time: not twice.
            verdicts = self._phase(waiting, observe=True, wanted=failure.identity)
        else:
            verdicts = self._phase(waiting, observe=False, wanted=failure.plain)
            if failure.observed:
                # Alike as far as could be seen: now with the name of the pass.
                alike = {key: waiting[key] for key, verdict in verdicts.items() if verdict is Verdict.SAME}
                verdicts = {key: verdict for key, verdict in verdicts.items() if key not in alike}
                verdicts |= self._phase(alike, observe=True, wanted=failure.identity)
        for key, verdict in verdicts.items():
            self.known[key] = verdict
            self.told(key, verdict)
        if self._over():
            raise BudgetUsed
        return {key: specimen for key, specimen in waiting.items() if key not in verdicts}

    def _phase(self, waiting: dict[str, Specimen], observe: bool, wanted: Identity) -> dict[str, Verdict]:
        """Verdicts of those that could be judged: the same when any of the repeated compiles shows it."""
        votes: dict[str, list[Verdict]] = {key: [] for key in waiting}
        until = self.failure.until
        action = PartialCompile(until, observe) if until else FullCompile(observe, use_cache=False)

        def requests() -> Iterator[Request]:
            for key, specimen in waiting.items():
                case = self._place(specimen)
                for _ in range(self.repeat):
                    if self._over():
                        return
                    if Verdict.SAME not in votes[key]:
                        yield Request(case, self.toolchain, self._bounded, action, tag=key)

        found: dict[str, Verdict] = {}
        for attempt in self.engine.run(requests()):
            key: str = attempt.request.tag
            self.compiles += 1
            verdict = self._judge(attempt, wanted)
            votes[key].append(verdict)
            if verdict is Verdict.SAME:
                found[key] = verdict
                if not (self.failure.observed and not observe):
                    self.same(waiting[key])
            elif len(votes[key]) >= self.repeat and key not in found and Verdict.UNKNOWN not in votes[key]:
                found[key] = verdict
        return found

    def _judge(self, attempt: Attempt, wanted: Identity) -> Verdict:
        result, diagnosis = attempt.result, attempt.diagnosis
        if isinstance(result, Undecided):
            # A candidate that does not fit its kernel any more is merely wrong.
            return Verdict.OTHER if result.input_error else Verdict.UNKNOWN
        if result.killed_from_outside:
            return Verdict.UNKNOWN
        if diagnosis is None:
            return Verdict.COMPILES
        if Identity.of(diagnosis) == wanted:
            return Verdict.SAME
        self.findings.setdefault(diagnosis.signature, diagnosis.headline)
        return Verdict.OTHER

    def _over(self) -> bool:
        return self.compiles >= self.most or time.monotonic() > self.until

    def _place(self, specimen: Specimen) -> Case:
        if self.siblings:
            return rewritten_case(specimen.case, specimen.text, self.folder)
        return placed(specimen, self.folder)


def placed(specimen: Specimen, folder: Path) -> Case:
    """The candidate alone in a folder of its own. Raises EnvironmentFault."""
    home = folder / specimen.key()
    try:
        home.mkdir(parents=True, exist_ok=True)
        (home / "kernel.py").write_text(specimen.text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentFault(f"{home}: cannot be written: {error.strerror}") from None
    return replace(specimen.case, folder=home, file="kernel.py")
