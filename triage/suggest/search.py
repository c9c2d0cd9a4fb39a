"""Compile neighbours from the front of the list until enough good ones are found or the budget is used up.

Nothing is named here that did not compile, whole and in isolation, in this very search.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from triage.case import Case
from triage.harness.engine import Engine
from triage.harness.limits import Limits
from triage.harness.request import Attempt, Request
from triage.harness.toolchains import Toolchain
from triage.outcome import Outcome, Status, TensorCore
from triage.report import Suggestion, SuggestionKind
from triage.suggest import cost
from triage.suggest.budget import Budget
from triage.suggest.candidate import Candidate

_SLOWEST = 4.0
"""A neighbour may take this many times what the failing compile took before it is given up …"""
_PATIENCE_S = 15.0
"""… but at least this long: the failure may have come early, and a compile that works does more."""
_TOOLCHAIN_DISTANCE = 10.0
_SOURCE_DISTANCE = 2.0


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One thing to try: a case and the toolchain to try it with, and how to speak of it."""

    case: Case
    toolchain: Toolchain
    candidate: Candidate
    kind: SuggestionKind


@dataclass(slots=True)
class Search:
    """One search. ``expected`` is the tensor-core class that the failing case was meant to get, ``stages`` its
    num_stages."""

    engine: Engine
    limits: Limits
    budget: Budget
    expected: TensorCore | None
    stages: int | None = None
    use_cache: bool = True
    tried: Callable[[int, int], None] = lambda tried, found: None
    compiled: int = 0
    found: list[Suggestion] = field(default_factory=list)

    def run(self, neighbours: Iterable[Neighbour], first_duration_s: float) -> list[Suggestion]:
        """Suggestions, best first. ``first_duration_s``: how long the failing compile took."""
        limits = Limits(
            min(self.limits.timeout_s, max(_PATIENCE_S, _SLOWEST * first_duration_s)), self.limits.memory_bytes
        )
        started = time.monotonic()
        attempts = self.engine.run(self._requests(neighbours, limits, started))
        for attempt in attempts:
            self.compiled += 1
            suggestion = self._suggestion(attempt)
            # Two reproducers may show the same repair.
            if suggestion is not None and all(other.changes != suggestion.changes for other in self.found):
                self.found.append(suggestion)
            self.tried(self.compiled, len(self.found))
        return cost.order(self._undominated(), self.expected, self.stages)

    def _requests(self, neighbours: Iterable[Neighbour], limits: Limits, started: float) -> Iterator[Request]:
        asked = 0
        for neighbour in neighbours:
            if asked >= self.budget.compiles or time.monotonic() - started > self.budget.seconds:
                return
            if neighbour.kind is SuggestionKind.CONFIG:
                good = self._good()
                if len(good) >= self.budget.enough or (good and asked >= self.budget.settled):
                    return
                if any(found.changes.items() <= neighbour.candidate.changes.items() for found in good):
                    continue  # A smaller change already does it, and loses nothing.
                asked += 1
            yield Request(neighbour.case, neighbour.toolchain, limits, use_cache=self.use_cache, tag=neighbour)

    def _undominated(self) -> list[Suggestion]:
        """Without those that change all that a good one changes and more: they were under way when it was found."""
        good = self._good()
        return [
            found for found in self.found if not any(other.changes.items() < found.changes.items() for other in good)
        ]

    def _good(self) -> list[Suggestion]:
        return [found for found in self.found if self._loses_nothing(found)]

    def _loses_nothing(self, suggestion: Suggestion) -> bool:
        resources = suggestion.resources
        if suggestion.kind is not SuggestionKind.CONFIG or resources.spill_bytes:
            return False
        if self.expected in (None, TensorCore.NONE):
            return True
        return resources.tensor_core is self.expected and not cost.loses_pipelining(suggestion, self.stages)

    def _suggestion(self, attempt: Attempt) -> Suggestion | None:
        result, neighbour = attempt.result, attempt.request.tag
        if not isinstance(result, Outcome) or result.status is not Status.OK or result.resources is None:
            return None
        words = f"{neighbour.candidate.why}; {cost.note(result.resources, self.expected)}"
        return Suggestion(
            changes=neighbour.candidate.changes,
            kind=neighbour.kind,
            distance=neighbour.candidate.distance,
            resources=result.resources,
            note=words.strip("; "),
        )


def configurations(case: Case, toolchain: Toolchain, candidates: Iterable[Candidate]) -> Iterator[Neighbour]:
    """Neighbours in constexprs, arguments, options and target."""
    for candidate in candidates:
        yield Neighbour(case.with_changes(candidate.changes), toolchain, candidate, SuggestionKind.CONFIG)


def releases(case: Case, toolchains: Iterable[Toolchain]) -> Iterator[Neighbour]:
    """The unchanged case with other Triton releases."""
    for place, toolchain in enumerate(toolchains):
        candidate = Candidate(
            {"triton": toolchain.triton},
            _TOOLCHAIN_DISTANCE + place,
            f"Triton {toolchain.triton} compiles it unchanged",
        )
        yield Neighbour(case, toolchain, candidate, SuggestionKind.TOOLCHAIN)


def source_change(variant: Case, toolchain: Toolchain, change: str, reproducer: str) -> Neighbour:
    """A repaired source, compiled as the reproducer that shows this failure."""
    candidate = Candidate(
        {"source": change}, _SOURCE_DISTANCE, f"compiled on the reproducer {reproducer}, for this target and release"
    )
    return Neighbour(variant, toolchain, candidate, SuggestionKind.SOURCE)
