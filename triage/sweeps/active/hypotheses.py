"""Hypotheses on where a failure happens: short rules that cover each compiled cell which fails so, and no other. Pure.

Compiles repeat: there is no noise, so a hypothesis that contradicts a compiled cell is wrong, and of those that
contradict none a shorter one is likelier. Many are consistent, though. A committee of them, each made of other
predicates with the same compiled cells, agrees on what has been settled and disagrees on what is worth a compile.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from triage.sweeps.active.measures import MeasureBoxes
from triage.sweeps.active.predicates import Predicate
from triage.sweeps.grid import CellSet

_VIEW = 0.5
"""Part of the predicates that a member of the committee sees as it grows a rule."""
_SEEDS = 3
"""Failing cells from which a rule is grown, of which the rule that covers most for its length is taken."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A rule: all predicates hold. ``covered``: the failing cells that it explains, by their numbers in the sample."""

    predicates: tuple[Predicate, ...]
    covered: int

    @property
    def bits(self) -> float:
        """What it costs to state it."""
        return sum(predicate.bits for predicate in self.predicates)

    def holds(self, at: Sequence[int]) -> bool:
        """Whether the cell at these positions is one in which it holds."""
        return all(predicate.holds(at) for predicate in self.predicates)

    def uses(self, name: str) -> bool:
        """Whether a predicate is on the measure of this name."""
        return any(predicate.measure.name == name for predicate in self.predicates)

    def cells(self, boxes: MeasureBoxes, whole: CellSet) -> CellSet:
        """All cells in which it holds."""
        for predicate in self.predicates:
            whole &= predicate.cells(boxes)
        return whole


@dataclass(frozen=True, slots=True)
class _Group:
    """Predicates that divide the compiled cells in the same way, cheapest first."""

    positive: int
    negative: int
    predicates: tuple[Predicate, ...]
    bits: float


_bits = attrgetter("bits")


class Learner:
    """Learns rules for one failure: ``positive`` are the compiled cells that have it, ``negative`` those that do not,
    though nothing would hide it there."""

    def __init__(self, predicates: Iterable[tuple[Predicate, int]], positive: int, negative: int) -> None:
        self._positive, self._negative = positive, negative
        grouped: dict[tuple[int, int], list[Predicate]] = {}
        for predicate, members in predicates:
            key = members & positive, members & negative
            if key[0] and key[1] != negative:
                grouped.setdefault(key, []).append(predicate)
        # Predicates come in the order of their cost, but for those of quantities, which are last and cheap.
        self._groups = [
            _Group(key[0], key[1], tuple(sorted(members, key=_bits)), min(map(_bits, members)))
            for key, members in grouped.items()
        ]

    def rules(self, rng: random.Random | None = None) -> tuple[Clause, ...]:
        """Rules that together cover the failing cells; with ``rng`` other ones each time, else the shortest."""
        clauses: list[Clause] = []
        left = self._positive
        while left:
            seeds = _members(left)
            seeds = seeds[:: -(-len(seeds) // _SEEDS)] if rng is None else rng.sample(seeds, min(_SEEDS, len(seeds)))
            grown = [self._grow(seed, left, rng) for seed in seeds]
            best = max(grown, key=lambda clause: (clause.covered & left).bit_count() / (1 + clause.bits))
            clauses.append(best)
            left &= ~best.covered
        return tuple(clauses)

    def _grow(self, seed: int, left: int, rng: random.Random | None) -> Clause:
        """A rule that covers one failing cell, grown by the predicate that excludes most for its length."""
        negative, wanted = self._negative, self._positive & left
        candidates = self._candidates(seed, rng, _VIEW)
        chosen: list[_Group] = []
        while negative:
            best, best_score = None, 0.0
            count = negative.bit_count()
            for members, others, weight, group in candidates:
                excluded = count - (negative & others).bit_count()
                if excluded:
                    score = excluded * (wanted & members).bit_count() * weight
                    if score > best_score:
                        best, best_score = group, score
            if best is None and rng is None:
                break
            if best is None:
                rng, candidates = None, self._candidates(seed, None, 1.0)
                continue
            chosen.append(best)
            wanted &= best.positive
            negative &= best.negative
        chosen = self._pruned(chosen)
        covered = self._positive
        for group in chosen:
            covered &= group.positive
        return Clause(tuple(_drawn(group.predicates, rng) for group in chosen), covered)

    def _candidates(self, seed: int, rng: random.Random | None, view: float) -> list[tuple[int, int, float, _Group]]:
        """Groups that a failing cell passes, those in view: what each keeps and how much it is preferred."""
        return [
            (group.positive, group.negative, (1.0 if rng is None else 0.5 + rng.random()) / group.bits, group)
            for group in self._groups
            if group.positive >> seed & 1 and (rng is None or rng.random() < view)
        ]

    def _pruned(self, chosen: Sequence[_Group]) -> list[_Group]:
        """Without the predicates that the others make unnecessary, the most costly first."""
        needed = list(chosen)
        for group in sorted(chosen, key=lambda group: -group.bits):
            rest = [other for other in needed if other is not group]
            negative = self._negative
            for other in rest:
                negative &= other.negative
            if not negative:
                needed = rest
        return needed


def _drawn(predicates: Sequence[Predicate], rng: random.Random | None) -> Predicate:
    """One of the predicates that divide the sample alike: each bit of length makes it half as likely."""
    if rng is None or len(predicates) == 1:
        return predicates[0]
    least = predicates[0].bits
    return rng.choices(predicates, [2.0 ** (least - predicate.bits) for predicate in predicates])[0]


def _members(numbers: int) -> list[int]:
    return [number for number in range(numbers.bit_length()) if numbers >> number & 1]
