"""Compile neighbours from the front of the list until enough good ones are found or the budget is used up.

Nothing is named as verified that did not compile, whole and in isolation, in this very search.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from triage.harness.deadline import BUDGET_MARGIN
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.toolchains import Toolchain
from triage.model.case import Case
from triage.model.gpus import TensorCore
from triage.model.outcome import Outcome, Status
from triage.model.report import EQUAL_ESTIMATES, Suggestion, SuggestionKind, Tried, equal_estimates
from triage.performance import cost
from triage.performance.cost import FastPath
from triage.suggest.budget import Budget
from triage.suggest.cautions import caution
from triage.suggest.further import LaterFailure
from triage.suggest.neighbour import Neighbour
from triage.suggest.tuning.expectations import Expectations
from triage.suggest.tuning.tuner import PROPOSED
from triage.suggest.tuning.tuning import Tuning

_SLOWEST = 4.0
"""A neighbour may take this many times what the failing compile took before it is given up …"""
_PATIENCE_S = 15.0
"""… but at least this long: the failure may have come early, and a compile that works does more."""

_TURNS = 4
"""Where the failing compile did not end, neighbours may not either: at least so many get a turn on each core."""

_BEFORE_FURTHER = 6
"""Neighbours that are tried before second changes of those that failed otherwise."""

_LAST = 2.0
"""Once the search has what it needs, what is under way gets this many times what the longest compile of it took …"""
_LAST_S = 2.0
"""… but at least this long, so that what is found does not depend on which of two like compiles ends first."""


@dataclass(slots=True)
class Search:
    """One search. ``meant`` is what the failing case was meant to get, ``signature`` that of its failure; ``tuning`` is
    what the static model knows; ``further`` gives second changes of neighbours that failed otherwise. ``over`` is
    called when the time is used up, and compiles may still run."""

    engine: Engine
    limits: Limits
    budget: Budget
    meant: FastPath
    signature: str | None = None
    tuning: Tuning | None = None
    use_cache: bool = True
    further: Callable[[Iterable[LaterFailure]], Iterator[Neighbour]] = lambda failures: iter(())
    progress: Callable[[int, int], None] = lambda tried, compiled: None
    over: Callable[[], None] = lambda: None
    _compiled: dict[int, tuple[Suggestion, Neighbour]] = field(default_factory=dict)
    _tried: dict[int, Tried] = field(default_factory=dict)
    _sent: dict[int, Neighbour] = field(default_factory=dict)
    _ended: int = 0
    _other_failures: list[LaterFailure] = field(default_factory=list)
    _seconds: list[Neighbour] = field(default_factory=list)

    @property
    def _asked(self) -> int:
        return len(self._sent)

    _longest_s: float = 0.0

    @property
    def suggestions(self) -> list[Suggestion]:
        """What compiled, in the order in which it was asked for: ties do not depend on which compile ends first."""
        return [suggestion for _, (suggestion, _) in sorted(self._compiled.items())]

    @property
    def tried(self) -> tuple[Tried, ...]:
        """The neighbours that were compiled, in the order in which they were asked for."""
        return tuple(tried for _, tried in sorted(self._tried.items()))

    def run(self, neighbours: Iterable[Neighbour], first_duration_s: float | None) -> list[Suggestion]:
        """Suggestions, best first. ``first_duration_s``: how long the failing compile took, None where its time was
        over."""
        patience_s = self.budget.seconds / _TURNS if first_duration_s is None else _SLOWEST * first_duration_s
        limits = Limits(min(self.limits.timeout_s, max(_PATIENCE_S, patience_s)), self.limits.memory_bytes)
        started, deadline = time.monotonic(), self.engine.deadline
        before, deadline.until = deadline.until, started + BUDGET_MARGIN * self.budget.seconds
        try:
            for attempt in self.engine.run(self._requests(neighbours, limits, started)):
                if isinstance(attempt.request.tag, Expectations):
                    attempt.request.tag.take(attempt)
                else:
                    self._take(attempt)
                    self.progress(len(self._tried), len(self._compiled))
        finally:
            deadline.until = before
        best = self.best()
        is_good = best and any(good.changes == best[0].changes for good in self._good())
        if is_good and self.tuning is not None and self.tuning.begins:
            self.tuning.choose(self.neighbour(best[0]))
        return best

    def best(self) -> list[Suggestion]:
        """What works of what was tried until now, best first."""
        estimates = {id(suggestion): self._estimate(suggestion) for suggestion, _ in self._compiled.values()}
        # Estimates tell which of two good ones is faster; without them, the smaller change is.
        all_estimated = all(seconds is not None for seconds in estimates.values())
        suggestions = self.suggestions if all_estimated else self._undominated()
        equal = EQUAL_ESTIMATES if self.tuning is None else equal_estimates(self.tuning.case.target)
        ordered = cost.order(suggestions, self.meant, lambda suggestion: estimates[id(suggestion)], equal)
        if ordered and ordered[0].why.startswith(PROPOSED):
            ordered[0] = _first(ordered[0])
        return ordered

    def _estimate(self, suggestion: Suggestion) -> float | None:
        if self.tuning is None:
            return None
        estimate = self.tuning.expectations.of(self.neighbour(suggestion).case, suggestion.resources)
        return None if estimate is None else estimate.seconds

    def with_expected(self, suggestion: Suggestion, outcome: Outcome) -> Suggestion:
        """One of the suggestions, with its time against that of the failing case, whose outcome is given."""
        if self.tuning is None or "target" in suggestion.changes or suggestion.resources is None:
            return suggestion
        asked = self.tuning.asked(outcome)
        case = self.neighbour(suggestion).case
        return replace(suggestion, expected=self.tuning.expected(case, suggestion.resources, asked))

    def _requests(self, neighbours: Iterable[Neighbour], limits: Limits, started: float) -> Iterator[Request | None]:
        yield from self._neighbours(neighbours, limits, started)
        if self._good():
            self._end_soon()
        while self.tuning is not None and self._ended < self._asked:
            yield None
        yield from self._read_compiled()

    def _neighbours(self, neighbours: Iterable[Neighbour], limits: Limits, started: float) -> Iterator[Request | None]:
        is_tuned, repaired = False, False
        if self.tuning is not None:
            yield from self.tuning.expectations.ask(self.tuning.case, self.tuning.toolchain)
            if self.tuning.begins:
                yield from self._chosen_before(limits)
                if not self._good():
                    yield from self._tuned({}, limits, started)
                is_tuned = bool(self._good())
        for neighbour in self._with_further(neighbours):
            if self._is_over(started):
                return
            if neighbour is None:
                yield None
                continue
            if neighbour.kind is SuggestionKind.CONFIG:
                good = self._good()
                # What computes something else repairs the program: which configuration is fastest is not its question.
                same = next((suggestion for suggestion in good if not suggestion.results), None)
                if same is not None and self.tuning is not None and not is_tuned:
                    is_tuned = True
                    yield from self._tuned(same.changes, limits, started)
                elif not is_tuned and not repaired and (spilling := self._spilling()) is not None:
                    repaired = True
                    yield from self._tuned(spilling.changes, limits, started, is_repair=True)
                    is_tuned = bool(good := self._good())
                if is_tuned:
                    continue  # The model says that nothing else is faster.
                if len(good) >= self.budget.enough or (good and self._asked >= self.budget.settled):
                    return
                if any(other.changes.items() <= neighbour.changes.items() for other in self._without_spills()):
                    continue  # A smaller change already compiles, and more of it regains nothing.
            yield self._request(neighbour, limits)
            yield from self._read_compiled()

    def _chosen_before(self, limits: Limits) -> Iterator[Request | None]:
        """What an earlier search chose for a configuration that fails alike."""
        assert self.tuning is not None
        while self.tuning.expectations.is_waiting:
            yield None
        if (neighbour := self.tuning.chosen_before()) is not None:
            yield self._request(neighbour, limits)
            while self._ended < self._asked:
                yield None

    def _with_further(self, neighbours: Iterable[Neighbour]) -> Iterator[Neighbour | None]:
        """The neighbours, and behind the first of them and the last, while none compiled, second changes; None where
        compiles under way are to be awaited."""
        waiting = True
        for neighbour in neighbours:
            yield neighbour
            if waiting and self._ended >= _BEFORE_FURTHER and not self._compiled:
                waiting = False
                yield from self._second()
        while self._ended < self._asked and not self._compiled:
            yield None
        if not self._compiled:
            yield from self._second()

    def _second(self) -> Iterator[Neighbour]:
        failures, self._other_failures = self._other_failures, []
        for neighbour in self.further(failures):
            self._seconds.append(neighbour)
            yield neighbour

    def _read_compiled(self) -> Iterator[Request]:
        """Requests for what the model reads of neighbours that compile."""
        for _, neighbour in list(self._compiled.values()) if self.tuning is not None else ():
            if self.tuning is not None and "target" not in neighbour.changes:
                yield from self.tuning.expectations.ask(neighbour.case, neighbour.toolchain)

    def _tuned(
        self, changes: Mapping[str, Any], limits: Limits, started: float, is_repair: bool = False
    ) -> Iterator[Request | None]:
        """Configurations that the model proposes, from the failing one with ``changes``. ``is_repair``: as for
        ``Tuning.begin``."""
        assert self.tuning is not None
        yield from self._read_compiled()
        while self.tuning.expectations.is_waiting:
            yield None
        tuner, learnt, idle_since = self.tuning.begin(changes, is_repair), 0, None
        while tuner is not None and not self._is_over(started):
            yield from tuner.probes()
            if tuner.expectations.is_waiting:
                yield None
                continue
            if learnt < len(self._tried):
                learnt, idle_since = len(self._tried), None
                for index in self._tried:
                    neighbour = self._sent[index]
                    resources = self._compiled[index][0].resources if index in self._compiled else None
                    if neighbour.kind is SuggestionKind.CONFIG:
                        tuner.learn(neighbour.case, neighbour.changes, resources)
            if (proposal := tuner.next()) is not None:
                yield self._request(self.tuning.neighbour(proposal), limits)
            elif (
                self._ended < self._asked
                and time.monotonic() - (idle_since := idle_since or time.monotonic()) < _LAST_S
            ):
                yield None  # What is under way may change the order.
            else:
                return

    def _is_over(self, started: float) -> bool:
        if self._asked >= self.budget.compiles:
            return True
        if time.monotonic() - started > self.budget.seconds:
            self.over()
            return True
        return False

    def _request(self, neighbour: Neighbour, limits: Limits) -> Request:
        index = len(self._sent)
        self._sent[index] = neighbour
        action = FullCompile(use_cache=self.use_cache)
        return Request(neighbour.case, neighbour.toolchain, limits, action, tag=(index, neighbour))

    def _end_soon(self) -> None:
        """Cancel what takes longer than the others did: its result is not needed."""
        deadline, patience_s = self.engine.deadline, max(_LAST_S, _LAST * self._longest_s)
        deadline.until = min(deadline.until, time.monotonic() + patience_s)

    def _undominated(self) -> list[Suggestion]:
        """Without those that change all that a good one changes and more: they were under way when it was found."""
        good = self._good()
        return [
            suggestion
            for suggestion in self.suggestions
            if not any(other.changes.items() < suggestion.changes.items() for other in good)
        ]

    def _good(self) -> list[Suggestion]:
        return [suggestion for suggestion in self._without_spills() if self._loses_nothing(suggestion)]

    def _without_spills(self) -> list[Suggestion]:
        return [
            suggestion
            for suggestion in self.suggestions
            if suggestion.kind is SuggestionKind.CONFIG and (resources := suggestion.resources) is not None
            if not resources.spill_bytes
        ]

    def _spilling(self) -> Suggestion | None:
        """What has only spills against it, and the model can repair."""
        if self.tuning is None or self.tuning.begins:
            return None
        worth = (each for each in self.suggestions if each.kind is SuggestionKind.CONFIG and not each.results)
        return next((each for each in worth if self._loses_nothing(each)), None)

    def _loses_nothing(self, suggestion: Suggestion) -> bool:
        if "target" in suggestion.changes or suggestion.resources is None:
            return False
        if self.meant.tensor_core in (None, TensorCore.NONE):
            return True
        keeps_class = suggestion.resources.tensor_core is self.meant.tensor_core
        return keeps_class and not cost.loses_pipelining(suggestion, self.meant.stages)

    def _take(self, attempt: Attempt) -> None:
        outcome, (index, neighbour) = attempt.result, attempt.request.tag
        self._ended += 1
        if not isinstance(outcome, Outcome):
            return  # Triage could not tell: neither tried nor a suggestion.
        compiled = outcome.status is Status.OK and outcome.resources is not None
        tried = Tried(neighbour.changes, neighbour.kind, compiled)
        if not compiled and (diagnosis := attempt.diagnosis) is not None:
            same = diagnosis.signature == self.signature
            tried = replace(tried, signature=diagnosis.signature, headline=diagnosis.headline, same=same)
            if not same and not any(neighbour is second for second in self._seconds):
                self._other_failures.append(LaterFailure(neighbour, outcome, diagnosis))
        self._tried[index] = tried
        if outcome.status is not Status.TIMEOUT:
            self._longest_s = max(self._longest_s, outcome.duration_s)
        if compiled:
            self._compiled[index] = self._suggestion(neighbour, outcome), neighbour

    def compiled(self, suggestions: Iterable[Suggestion]) -> list[tuple[Suggestion, Case, Toolchain]]:
        """Suggestions that :meth:`run` gave, with what was compiled for each."""
        neighbours = ((suggestion, self.neighbour(suggestion)) for suggestion in suggestions)
        return [(suggestion, neighbour.case, neighbour.toolchain) for suggestion, neighbour in neighbours]

    def neighbour(self, suggestion: Suggestion) -> Neighbour:
        """What was compiled for one of the suggestions that :meth:`run` gave."""
        wanted = suggestion.changes
        return next(neighbour for compiled, neighbour in self._compiled.values() if compiled.changes == wanted)

    def _suggestion(self, neighbour: Neighbour, outcome: Outcome) -> Suggestion:
        assert outcome.resources is not None
        why = neighbour.why
        costs = cost.note(outcome.resources, self.meant, neighbour.case.target)
        return Suggestion(
            changes=neighbour.changes,
            kind=neighbour.kind,
            distance=neighbour.distance,
            resources=outcome.resources,
            note=f"{why}; {costs}".strip("; "),
            why=why,
            cost=costs,
            results=neighbour.results,
            caller=neighbour.caller,
            diff=neighbour.diff,
            caution=caution(neighbour.case, neighbour.toolchain.release, outcome.resources),
        )


def _first(suggestion: Suggestion) -> Suggestion:
    """A proposal of the model that nothing else that compiled is expected to beat."""
    why = suggestion.why.replace(PROPOSED, "fastest by the static model")
    return replace(suggestion, why=why, note=suggestion.note.replace(suggestion.why, why))
