"""Does a text of IR still show the failure? Judged by the same exact identity as the kernel was, on the one pass or
stage alone."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from triage import logs
from triage.harness import ir_tasks
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Request
from triage.harness.toolchains import Toolchain
from triage.minimize.oracle import BudgetUsed, Failure, Identity, Verdict
from triage.model.case import Case
from triage.model.diagnosis import Diagnosis
from triage.model.errors import EnvironmentFault
from triage.model.outcome import Outcome, Undecided

_MOST_UNKNOWN = 3
"""That many texts in a row that could not be judged, each tried twice: it is the oracle."""


@dataclass(slots=True)
class Replays:
    """Runs tasks on texts for one failure. ``until`` bounds the time (monotonic seconds); ``repeat``: runs a text."""

    engine: Engine
    case: Case
    toolchain: Toolchain
    limits: Limits
    failure: Failure
    folder: Path
    until: float
    repeat: int = 1
    runs: int = 0

    def run(self, task: ir_tasks.IrTask) -> Outcome | None:
        """One task; None where it could not be told what came of it."""
        attempt = next(iter(self.engine.run([self.request(task)])))
        self.runs += 1
        return None if isinstance(attempt.result, Undecided) else attempt.result

    def shows(self, task: ir_tasks.IrTask) -> tuple[Diagnosis, Outcome] | None:
        """The failure, when the task shows it in any of the repeated runs."""
        for _ in range(self.repeat):
            outcome = self.run(task)
            if outcome is not None and (found := self.alike(outcome)) is not None:
                return found, outcome
        return None

    def alike(self, outcome: Outcome | Undecided) -> Diagnosis | None:
        """The diagnosis where the outcome is the failure: by its identity, or by that of the failure as an unobserved
        compile shows it, as the pass is known from the task."""
        if isinstance(outcome, Undecided) or outcome.killed_from_outside:
            return None
        named = replace(outcome, pass_name=self.failure.diagnosis.pass_name) if outcome.pipeline else outcome
        for seen, wanted in ((named, self.failure.identity), (outcome, self.failure.plain)):
            diagnosis = logs.diagnose_outcome(seen)
            if diagnosis is not None and Identity.of(diagnosis) == wanted:
                return diagnosis
        return None

    def request(self, task: ir_tasks.IrTask, tag: str | None = None) -> Request:
        """The request for a task, on behalf of a text."""
        return Request(self.case, self.toolchain, self.limits, task, tag)

    def judge(self, result: Outcome | Undecided) -> Verdict:
        """What came of a text."""
        if isinstance(result, Undecided):
            # A text that cannot be read is merely wrong.
            return Verdict.OTHER if result.input_error else Verdict.UNKNOWN
        if result.killed_from_outside:
            return Verdict.UNKNOWN
        if self.alike(result) is not None:
            return Verdict.SAME
        return Verdict.OTHER if result.failed else Verdict.COMPILES


@dataclass(slots=True)
class TextOracle:
    """Judges texts, each once. ``task`` makes of a text's file what is to be run on it."""

    replays: Replays
    task: Callable[[Path], ir_tasks.IrTask]
    ending: str
    known: dict[str, Verdict] = field(default_factory=dict)
    _unknown: int = 0

    @property
    def width(self) -> int:
        """As many texts at a time as keep every job busy."""
        return 2 * self.replays.engine.jobs

    def ask(self, texts: Sequence[str]) -> list[Verdict]:
        """A verdict for each. Raises BudgetUsed, and EnvironmentFault when the oracle is broken."""
        replays = self.replays
        if time.monotonic() > replays.until:
            raise BudgetUsed
        keys = [hashlib.sha256(text.encode()).hexdigest()[:24] for text in texts]
        waiting = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.known}
        for _ in range(2):  # What could not be told is tried once more.
            waiting = self._judge_all(waiting)
        if time.monotonic() > replays.until:
            # What was not tried any more says nothing of the oracle.
            waiting = {}
        self._unknown = self._unknown + len(waiting) if waiting else 0
        if self._unknown >= _MOST_UNKNOWN:
            raise EnvironmentFault("texts of IR could not be judged again and again")
        return [self.known.get(key, Verdict.UNKNOWN) for key in keys]

    def _judge_all(self, waiting: dict[str, str]) -> dict[str, str]:
        replays = self.replays
        votes: dict[str, list[Verdict]] = {key: [] for key in waiting}

        def requests() -> Iterator[Request]:
            for key, text in waiting.items():
                path = replays.folder / f"{key}{self.ending}"
                path.write_text(text, encoding="utf-8")
                for _ in range(replays.repeat):
                    if time.monotonic() > replays.until:
                        return
                    if Verdict.SAME not in votes[key]:
                        yield replays.request(self.task(path), key)

        for attempt in replays.engine.run(requests()):
            replays.runs += 1
            votes[attempt.request.tag].append(replays.judge(attempt.result))
        for key, said in votes.items():
            (replays.folder / f"{key}{self.ending}").unlink(missing_ok=True)
            if Verdict.SAME in said:
                self.known[key] = Verdict.SAME
            elif len(said) >= replays.repeat and Verdict.UNKNOWN not in said:
                self.known[key] = said[-1]
        return {key: text for key, text in waiting.items() if key not in self.known}
