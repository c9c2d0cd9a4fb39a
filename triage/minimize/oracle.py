"""Does a candidate still show the failure? Run in isolation, answered by the exact identity of what failed.

"Could not tell" is never read as one of the other answers: an oracle that cannot tell several times in a row is broken,
and ends the reduction with the best so far.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from triage.harness.deadline import Deadline
from triage.harness.request import Attempt, Request
from triage.minimize.problem import BudgetUsed, C, RunBudget, Verdict
from triage.model.errors import EnvironmentFault
from triage.model.outcome import Undecided

_C_contra = TypeVar("_C_contra", contravariant=True)

_MOST_UNKNOWN = 3
"""After that many candidates in a row that could not be judged, each tried twice, the oracle is broken."""
_CHECK_EVERY = 200
"""Runs after which a candidate that failed alike is run again: an oracle may break in ways that look like an answer."""


class RequestRunner(Protocol):
    """Runs requests, ``jobs`` at a time: the engine, or something around it."""

    @property
    def jobs(self) -> int:
        """Requests that run at a time."""

    def run(self, requests: Iterable[Request | None]) -> Iterator[Attempt]:
        """Attempts in the order in which they end."""


class CountingRunner:
    """A runner that counts its attempts in ``runs``. ``deadline`` is the runner's own."""

    def __init__(self, runner: RequestRunner, deadline: Deadline | None = None) -> None:
        self._runner = runner
        self.deadline = deadline or Deadline()
        self.jobs = runner.jobs
        self.runs = 0

    def run(self, requests: Iterable[Request | None]) -> Iterator[Attempt]:
        """Attempts in the order in which they end. Raises BudgetUsed at the deadline."""
        for attempt in self._runner.run(requests):
            self.runs += 1
            yield attempt
        if self.deadline.over:
            raise BudgetUsed

    def attempt(self, request: Request) -> Attempt:
        """The answer to a single request. Raises BudgetUsed at the deadline."""
        return next(iter(self.run([request])))


class Trial(Protocol[_C_contra]):
    """One way to run a candidate and to read the result."""

    def request(self, candidate: _C_contra) -> Request:
        """The request that runs it."""

    def verdict(self, attempt: Attempt) -> Verdict:
        """What the answer to that request says of the candidate."""


def undecided(attempt: Attempt) -> Verdict | None:
    """The verdict on a candidate whose run shows neither success nor failure; None for any other."""
    if isinstance(attempt.result, Undecided):
        # A candidate that no longer fits its kernel, or that cannot be read, is merely wrong.
        return Verdict.OTHER if attempt.result.input_error else Verdict.UNKNOWN
    return Verdict.UNKNOWN if attempt.result.killed_from_outside else None


@dataclass(eq=False)
class Oracle(Generic[C]):
    """Judges candidates, each once. A candidate is the same when every trial says so, in any of ``repeat`` runs each.

    ``key`` identifies candidates, ``record`` is called with each verdict, ``discard`` with each candidate that was run.
    """

    runner: CountingRunner
    trials: Sequence[Trial[C]]
    key: Callable[[C], str]
    repeat: int = 1
    record: Callable[[str, Verdict], None] = lambda key, verdict: None
    discard: Callable[[C], None] = lambda candidate: None
    _known: dict[str, Verdict] = field(init=False, default_factory=dict)
    _unknown: int = field(init=False, default=0)
    _control: C | None = field(init=False, default=None)
    _checked: int = field(init=False)

    def __post_init__(self) -> None:
        self._checked = self.runner.runs

    def remember(self, verdicts: dict[str, Verdict]) -> None:
        """Add verdicts of an earlier reduction."""
        self._known |= verdicts

    def ask(
        self,
        candidates: Sequence[C | None],
        alike: Callable[[C], None] = lambda candidate: None,
        budget: RunBudget = RunBudget(),  # noqa: B008 - a frozen value
    ) -> list[Verdict]:
        """A verdict for each candidate; None is invalid. ``alike`` is called with each candidate that fails as the
        original does, as soon as that is known. Raises BudgetUsed, and EnvironmentFault when the oracle is broken."""
        if budget.used(self.runner.runs):
            raise BudgetUsed
        self._check()
        keyed = [(self.key(candidate), candidate) for candidate in candidates if candidate is not None]
        waiting = {key: candidate for key, candidate in keyed if key not in self._known}
        for _ in range(2):  # What could not be told is tried once more.
            waiting = self._judge_all(waiting, alike, budget)
        self._unknown = self._unknown + len(waiting) if waiting else 0
        if self._unknown >= _MOST_UNKNOWN:
            raise EnvironmentFault(
                f"{self._unknown} candidates in a row could not be judged, each tried twice; the best so far is kept"
            )
        verdicts = iter([self._known.get(key, Verdict.UNKNOWN) for key, _ in keyed])
        return [Verdict.INVALID if candidate is None else next(verdicts) for candidate in candidates]

    def _check(self) -> None:
        """Raises EnvironmentFault when a candidate that failed alike no longer does."""
        if self._control is None or self.runner.runs - self._checked < _CHECK_EVERY:
            return
        self._checked, trial = self.runner.runs, self.trials[-1]
        attempts = (self.runner.attempt(trial.request(self._control)) for _ in range(2 * self.repeat))
        alike = any(trial.verdict(attempt) is Verdict.SAME for attempt in attempts)
        self.discard(self._control)
        if not alike:
            raise EnvironmentFault("the best so far no longer fails as it did; something outside has changed")

    def _judge_all(self, waiting: dict[str, C], alike: Callable[[C], None], budget: RunBudget) -> dict[str, C]:
        """Run them; returns those that are still undecided."""
        verdicts, left = dict[str, Verdict](), waiting
        for number, trial in enumerate(self.trials):
            last = number == len(self.trials) - 1
            seen = self._run(trial, left, alike if last else lambda candidate: None, budget)
            left = {key: waiting[key] for key, verdict in seen.items() if verdict is Verdict.SAME}
            verdicts |= {key: verdict for key, verdict in seen.items() if last or key not in left}
        for key, candidate in waiting.items():
            self.discard(candidate)
            if key in verdicts:
                self._known[key] = verdicts[key]
                self.record(key, verdicts[key])
        if waiting and budget.used(self.runner.runs):
            raise BudgetUsed
        return {key: candidate for key, candidate in waiting.items() if key not in verdicts}

    def _run(
        self, trial: Trial[C], waiting: dict[str, C], alike: Callable[[C], None], budget: RunBudget
    ) -> dict[str, Verdict]:
        """Verdicts of those that could be judged: the same when any of the repeated runs shows it."""
        votes: dict[str, list[Verdict]] = {key: [] for key in waiting}

        def requests() -> Iterator[Request]:
            for key, candidate in waiting.items():
                for _ in range(self.repeat):
                    if budget.used(self.runner.runs):
                        return
                    if Verdict.SAME not in votes[key]:
                        yield replace(trial.request(candidate), tag=key)

        for attempt in self.runner.run(requests()):
            key: str = attempt.request.tag
            verdict = trial.verdict(attempt)
            if verdict is Verdict.SAME and Verdict.SAME not in votes[key]:
                self._control = waiting[key]
                alike(waiting[key])
            votes[key].append(verdict)
        decided: dict[str, Verdict] = {}
        for key, cast in votes.items():
            if Verdict.SAME in cast:
                decided[key] = Verdict.SAME
            elif len(cast) >= self.repeat and Verdict.UNKNOWN not in cast:
                decided[key] = cast[-1]
        return decided
