"""The reducer: the best candidate so far, and ways to search for a smaller one.

Nothing here knows what a candidate is: a kernel with its configuration, or a text of IR. A pass proposes *patches*
against one candidate; the problem applies them alone and together, asks an oracle which results still fail as the
original does, and keeps the smallest. Patches are tried in chunks, halved until they go one by one. What works alone is
combined; where the combination fails, it is combined by halves.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from typing import Generic, Protocol, TypeVar

from triage.harness.deadline import Deadline
from triage.model.errors import EnvironmentFault

C = TypeVar("C")
P = TypeVar("P")
Size = tuple[int, ...]

_MOST_ROUNDS = 30
"""Bound of a loop that ends on its own, since each round makes the best smaller."""


class Verdict(str, Enum):
    """What a candidate does. ``INVALID`` candidates are never run."""

    SAME = "same"
    OTHER = "other"
    COMPILES = "compiles"
    INVALID = "invalid"
    UNKNOWN = "unknown"


class BudgetUsed(Exception):
    """No more runs or no more time; the best so far is the result."""


INTERRUPTED = "interrupted"
STOPPED = "stopped"
"""How :func:`search` answers where triage could not tell any more."""


def search(reduce: Callable[[], None]) -> str:
    """Run a reduction; how it ended: ``complete``, ``budget``, ``interrupted``, or ``stopped`` with the reason."""
    try:
        reduce()
    except BudgetUsed:
        return "budget"
    except KeyboardInterrupt:
        return INTERRUPTED
    except EnvironmentFault as error:
        return f"{STOPPED}: {error}"
    return "complete"


@contextmanager
def finishing(ended: str, deadline: Deadline) -> Iterator[None]:
    """What is left to do after a search. The body is cut short at the deadline, or by an interrupt, which moves the
    deadline: then nothing begins any more, now or later."""
    if ended == INTERRUPTED:
        deadline.stop()
    try:
        yield
    except BudgetUsed:
        return
    except KeyboardInterrupt:
        deadline.stop()


@dataclass(frozen=True, slots=True)
class RunBudget:
    """At most ``runs`` in all, until ``until`` (monotonic seconds)."""

    runs: float = float("inf")
    until: float = float("inf")

    def used(self, runs: int) -> bool:
        """Whether nothing is left of it."""
        return runs >= self.runs or time.monotonic() > self.until


class Judge(Protocol[C]):
    """The problem's view of an oracle."""

    def ask(self, candidates: Sequence[C | None], alike: Callable[[C], None], budget: RunBudget) -> list[Verdict]:
        """A verdict for each candidate; None is invalid. ``alike`` is called with each candidate that fails as the
        original does, as soon as that is known. Raises BudgetUsed, and EnvironmentFault when it cannot tell."""


@dataclass(frozen=True, slots=True)
class PatchSet(Generic[C, P]):
    """Patches of one candidate. ``apply``: the candidate with some of them; None where they do not go together.
    ``fingerprint``: equal for equal patches of different candidates, None where that is not known."""

    patches: Sequence[P]
    apply: Callable[[Sequence[P]], C | None]
    fingerprint: Callable[[P], str | None] = lambda patch: None


@dataclass(frozen=True, slots=True)
class Subset(Generic[C]):
    """A candidate and what it keeps of the best, as numbers. ``make``: the candidate; None where there is none."""

    parts: frozenset[int]
    make: Callable[[], C | None]


@dataclass(eq=False)
class ReductionProblem(Generic[C]):
    """One reduction. ``best`` is the smallest candidate so far, ``history`` the way to it. ``improved`` is called with
    each new best, ``report`` with what is tried next and the best so far. ``width``: candidates asked for at a time."""

    judge: Judge[C]
    best: C
    size: Callable[[C], Size]
    _: KW_ONLY
    width: int
    budget: RunBudget
    improved: Callable[[C], object] = lambda best: None
    report: Callable[[str, C], None] = lambda name, best: None
    history: list[C] = field(init=False)
    _rejected: set[str | None] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.history = [self.best]

    def step(self, name: str) -> None:
        """Report what is tried next."""
        self.report(name, self.best)

    # ---- single candidates

    def attempt(self, candidate: C, larger: bool = False) -> bool:
        """Take a candidate where it fails alike and is not larger than the best, or with ``larger`` in any case."""
        if candidate == self.best:
            return True
        fits = larger or self.size(candidate) <= self.size(self.best)
        if not fits or self._ask([candidate])[0] is not Verdict.SAME:
            return False
        self._take(candidate)
        return True

    def first(self, candidates: Sequence[C | None]) -> bool:
        """Take the first candidate that fails alike; whether there is one. It is not taken when it is larger."""
        for at in range(0, len(candidates), self.width):
            wave = candidates[at : at + self.width]
            for candidate, verdict in zip(wave, self._ask(wave), strict=True):
                if candidate is not None and verdict is Verdict.SAME:
                    if self.size(candidate) <= self.size(self.best):
                        self._take(candidate)
                    return True
        return False

    def smaller(self, candidate: C | None, than: C | None = None) -> C | None:
        """The candidate, where it is smaller than another or the best."""
        than = self.best if than is None else than
        return candidate if candidate is not None and self.size(candidate) < self.size(than) else None

    def descend(self, subsets: Sequence[Subset[C]]) -> bool:
        """Take the subset that keeps the least of those that fail alike; whether there is one. What is less than a
        subset that does not fail is taken not to fail either, so that few of many subsets are asked for."""
        before, left = self.best, sorted(subsets, key=lambda subset: len(subset.parts))
        while left:
            # Spread over all sizes: each answer decides on those below it.
            count = min(self.width, len(left))
            wave = [left[(2 * index + 1) * len(left) // (2 * count)] for index in range(count)]
            left = [subset for subset in left if not any(subset is asked for asked in wave)]
            candidates = [self.smaller(subset.make(), before) for subset in wave]
            alike: Subset[C] | None = None
            for subset, candidate, verdict in zip(wave, candidates, self._ask(candidates), strict=True):
                if verdict is Verdict.SAME and candidate is not None:
                    self._offer(candidate)
                    alike = alike or subset
                elif verdict is Verdict.COMPILES:
                    left = [other for other in left if not other.parts <= subset.parts]
            if alike is not None:
                left = [other for other in left if other.parts < alike.parts]
        return self.best != before

    # ---- patches

    def rounds(self, once: Callable[[bool], None]) -> None:
        """Call ``once`` until it changes nothing. Its argument is whether this is the first round. Patches that were
        rejected in an earlier round are tried again before the end: later changes may allow them."""
        for number in range(_MOST_ROUNDS):
            before, everything = self.best, not self._rejected
            once(number == 0)
            if self.best == before:
                if everything:
                    return
                self._rejected.clear()

    def sweep(self, patch_set: PatchSet[C, P], chunks: bool = True, smaller: bool = True) -> None:
        """Apply as many of the patches as keep the failure: with ``chunks`` all at once, then halves, down to one by
        one. ``smaller``: only those that make the candidate smaller."""
        left = [patch for patch in patch_set.patches if patch_set.fingerprint(patch) not in self._rejected]
        base, taken = self.best, list[P]()
        size = len(left) if chunks else 1
        while size >= 1 and left:
            groups = [left[at : at + size] for at in range(0, len(left), size)]
            # What is taken at the front of the list leaves less to try behind it: a few at a time, as they run.
            for at in range(0, len(groups), self.width):
                taken += self._wave(patch_set, base, taken, groups[at : at + self.width], smaller)
            done = {id(patch) for patch in taken}
            left = [patch for patch in left if id(patch) not in done]
            size //= 2
        combined = patch_set.apply(taken) if taken else None
        if combined is not None and (self.best == base or self.size(combined) <= self.size(self.best)):
            self._take(combined)

    def _wave(
        self, patch_set: PatchSet[C, P], base: C, taken: list[P], groups: list[list[P]], smaller: bool
    ) -> list[P]:
        """The patches of those groups that keep the failure, together and with the patches taken before."""
        candidates = [patch_set.apply([*taken, *group]) for group in groups]
        if smaller:
            than = patch_set.apply(taken) if taken else base
            candidates = [self.smaller(candidate, than) for candidate in candidates]
        good = list[list[P]]()
        for group, verdict in zip(groups, self._ask(candidates), strict=True):
            if verdict is Verdict.SAME:
                good.append(group)
            elif verdict in (Verdict.OTHER, Verdict.COMPILES) and len(group) == 1:
                self._rejected.add(patch_set.fingerprint(group[0]))
        self._rejected.discard(None)
        return [patch for group in self._together(patch_set, taken, good) for patch in group]

    def _together(self, patch_set: PatchSet[C, P], taken: list[P], good: list[list[P]]) -> list[list[P]]:
        """As many of the groups, each good alone, as are good together."""
        if len(good) <= 1:
            return good
        combined = patch_set.apply([*taken, *(patch for group in good for patch in group)])
        if combined is not None and self._ask([combined])[0] is Verdict.SAME:
            return good
        half = len(good) // 2
        first = self._together(patch_set, taken, good[:half])
        taken = [*taken, *(patch for group in first for patch in group)]
        rest = good[half:]
        verdicts = self._ask([patch_set.apply([*taken, *group]) for group in rest])
        still = [group for group, verdict in zip(rest, verdicts, strict=True) if verdict is Verdict.SAME]
        return [*first, *self._together(patch_set, taken, still)]

    # ---- the oracle and the best

    def _ask(self, candidates: Sequence[C | None]) -> list[Verdict]:
        return self.judge.ask(candidates, self._offer, self.budget)

    def _offer(self, candidate: C) -> None:
        if self.smaller(candidate) is not None:
            self._take(candidate)

    def _take(self, candidate: C) -> None:
        if candidate != self.best:
            self.best = candidate
            self.history.append(candidate)
            self.improved(candidate)
