"""Does a text of IR still show the failure? One pass or stage is run on it, judged by the kernel's exact identity."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from triage.harness.limits import Limits
from triage.harness.request import Attempt, IrTask, Request
from triage.harness.toolchains import Toolchain
from triage.logs.outcomes import diagnose_outcome, read_outcome
from triage.minimize.failure import Identity, OriginalFailure
from triage.minimize.oracle import CountingRunner, Oracle, undecided
from triage.minimize.problem import Verdict
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.outcome import Outcome, Undecided


@dataclass(frozen=True, slots=True)
class Replays:
    """Runs parts of a failing kernel's compile, in ``folder``. A text is run up to ``repeat`` times, as many as it
    takes to see a failure that does not always occur."""

    runner: CountingRunner
    case: Case
    toolchain: Toolchain
    limits: Limits
    failure: OriginalFailure
    folder: Path
    repeat: int = 1

    def run(self, task: IrTask) -> Outcome | None:
        """Run a task once; None where triage could not tell how it ended."""
        result = self.runner.attempt(self.request(task)).result
        return None if isinstance(result, Undecided) else result

    def shows(self, task: IrTask) -> tuple[Diagnosis, Outcome] | None:
        """The failure, when any of the repeated runs of a task shows it."""
        for _ in range(self.repeat):
            outcome = self.run(task)
            if outcome is not None and (diagnosis := self.same_failure(outcome)) is not None:
                return diagnosis, outcome
        return None

    def same_failure(self, outcome: Outcome) -> Diagnosis | None:
        """The diagnosis where the outcome is the failure: by its identity, or by its identity without observing, as
        the task determines the pass."""
        if outcome.killed_from_outside:
            return None
        printed = read_outcome(outcome)
        named = replace(outcome, pass_name=self.failure.diagnosis.pass_name) if outcome.pipeline else outcome
        for seen, wanted in ((named, self.failure.identity), (outcome, self.failure.plain)):
            diagnosis = diagnose_outcome(seen, printed=printed)
            if diagnosis is not None and Identity.of(diagnosis) == wanted:
                return diagnosis
        return None

    def request(self, task: IrTask) -> Request:
        """The request for a task."""
        return Request(self.case, self.toolchain, self.limits, task)

    def oracle(self, task: Callable[[Path], IrTask], ending: str) -> Oracle[str]:
        """An oracle for texts. ``task``: the task for a text's file, which is named with ``ending``."""
        trial = _TextTrial(self, task, ending)
        return Oracle(self.runner, [trial], _key, self.repeat, discard=trial.discard)


@dataclass(frozen=True, slots=True)
class _TextTrial:
    replays: Replays
    task: Callable[[Path], IrTask]
    ending: str

    def request(self, candidate: str) -> Request:
        path = self._path(candidate)
        path.write_text(candidate, encoding="utf-8")
        return self.replays.request(self.task(path))

    def verdict(self, attempt: Attempt) -> Verdict:
        if (verdict := undecided(attempt)) is not None:
            return verdict
        assert isinstance(attempt.result, Outcome)
        if self.replays.same_failure(attempt.result) is not None:
            return Verdict.SAME
        return Verdict.OTHER if attempt.result.failed else Verdict.COMPILES

    def discard(self, candidate: str) -> None:
        self._path(candidate).unlink(missing_ok=True)

    def _path(self, text: str) -> Path:
        return self.replays.folder / f"{_key(text)}{self.ending}"


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
