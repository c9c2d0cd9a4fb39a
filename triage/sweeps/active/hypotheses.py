"""Hypotheses on where a failure happens: short rules that cover each compiled cell which fails so, and no other. Pure.

Compiles repeat: there is no noise, so a hypothesis that contradicts a compiled cell is wrong, and of those that
contradict none a shorter one is likelier. Many are consistent, though. A committee of them, each made of other
conditions with the same compiled cells, agrees on what has been settled and disagrees on what is worth a compile.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from triage.sweeps.active.conditions import Condition
from triage.sweeps.active.measures import MeasureBoxes
from triage.sweeps.grid import CellSet

_VIEW = 0.5
"""Part of the conditions that a member of the committee sees as it grows a rule."""
_SEEDS = 3
"""Failing cells from which a rule is grown, of which the rule that covers most for its length is taken."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A rule: all conditions hold. ``covered``: the failing cells that it explains, by their numbers in the sample."""

    conditions: tuple[Condition, ...]
    covered: int

    @property
    def bits(self) -> float:
        """What it costs to state it."""
        return sum(condition.bits for condition in self.conditions)

    def holds(self, at: Sequence[int]) -> bool:
        """Whether the cell at these positions is one in which it holds."""
        return all(condition.holds(at) for condition in self.conditions)

    def uses(self, name: str) -> bool:
        """Whether a condition is on the measure of this name."""
        return any(condition.measure.name == name for condition in self.conditions)

    def cells(self, boxes: MeasureBoxes, whole: CellSet) -> CellSet:
        """All cells in which it holds."""
        for condition in self.conditions:
            whole &= condition.cells(boxes)
        return whole


@dataclass(frozen=True, slots=True)
class _Group:
    """Conditions that divide the compiled cells in the same way, cheapest first."""

    positive: int
    negative: int
    conditions: tuple[Condition, ...]
    bits: float


_bits = attrgetter("bits")


class Learner:
    """Learns rules for one failure: ``positive`` are the compiled cells that have it, ``negative`` those that do not,
    though nothing would hide it there."""

    def __init__(self, conditions: Iterable[tuple[Condition, int]], positive: int, negative: int) -> None:
        self._positive, self._negative = positive, negative
        grouped: dict[tuple[int, int], list[Condition]] = {}
        for condition, members in conditions:
            key = members & positive, members & negative
            if key[0] and key[1] != negative:
                grouped.setdefault(key, []).append(condition)
        # Conditions come in the order of their cost, but for those of quantities, which are last and cheap.
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
        """A rule that covers one failing cell, grown by the condition that excludes most for its length."""
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
        return Clause(tuple(_drawn(group.conditions, rng) for group in chosen), covered)

    def _candidates(self, seed: int, rng: random.Random | None, view: float) -> list[tuple[int, int, float, _Group]]:
        """Groups that a failing cell passes, those in view: what each keeps and how much it is preferred."""
        return [
            (group.positive, group.negative, (1.0 if rng is None else 0.5 + rng.random()) / group.bits, group)
            for group in self._groups
            if group.positive >> seed & 1 and (rng is None or rng.random() < view)
        ]

    def _pruned(self, chosen: Sequence[_Group]) -> list[_Group]:
        """Without the conditions that the others make unnecessary, the most costly first."""
        needed = list(chosen)
        for group in sorted(chosen, key=lambda group: -group.bits):
            rest = [other for other in needed if other is not group]
            negative = self._negative
            for other in rest:
                negative &= other.negative
            if not negative:
                needed = rest
        return needed


def _drawn(conditions: Sequence[Condition], rng: random.Random | None) -> Condition:
    """One of the conditions that divide the sample alike: each bit of length makes it half as likely."""
    if rng is None or len(conditions) == 1:
        return conditions[0]
    least = conditions[0].bits
    return rng.choices(conditions, [2.0 ** (least - condition.bits) for condition in conditions])[0]


def _members(numbers: int) -> list[int]:
    return [number for number in range(numbers.bit_length()) if numbers >> number & 1]
