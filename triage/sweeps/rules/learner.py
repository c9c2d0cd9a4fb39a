"""Finds conjunctions of conditions that cover failing cells and no others: the shortest description, in bits. Pure.

A failure with *n* examples among the compiled cells can be written down as a list, log2(cells) bits an example. A rule
that covers *k* of them saves that much for each, and costs its conditions, each log2 of how many of its kind there are
(minimum description length; Rissanen, 1978; as in RIPPER, Cohen, 1995). Rules that save nothing are not rules: they
would fit by chance. So there is no weight to choose. Where every cell was compiled there is no chance: there a rule has
to be shorter than its cells, each written as the values of its axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2

from triage.sweeps.columns import positions_of
from triage.sweeps.grid import Cell, Grid, set_of
from triage.sweeps.rules.conditions import RuleCondition, conditions_of

_MOST_CONDITIONS = 5
"""Minimal failing combinations of a real grid have four to five factors."""
_BEAM = 60
_MOST_RULES = 12
"""Of one failure: more than that is a list again."""
_EXAMPLES_PER_EXCEPTION = 100


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A rule as it is learnt. ``covered`` and ``refuted``: examples and counter-examples, as sets of the sample."""

    conditions: tuple[RuleCondition, ...]
    bits: float
    covered: int
    refuted: int

    def cells(self, grid: Grid) -> int:
        """All cells that it covers, allowed or not."""
        cells = grid.whole
        for condition in self.conditions:
            cells &= condition.cells(grid)
        return cells


class RuleLearner:
    """``sample``: the cells that are known; a set of it has one bit for each of them. ``is_whole``: there are no
    others. ``others``: conditions beside those of the grid."""

    def __init__(
        self, grid: Grid, sample: Sequence[Cell], is_whole: bool = False, others: Sequence[RuleCondition] = ()
    ) -> None:
        self._grid = grid
        self.sample = tuple(sample)
        self._everywhere = (1 << len(self.sample)) - 1
        conditions = conditions_of(grid, others)
        self._width = log2(max(len(self.sample), 2))
        """Bits of an example."""
        if is_whole:
            axes = [(index,) for index, axis in enumerate(grid.axes) if len(axis.values) > 1]
            equal = [min(each.bits for each in conditions if each.axes == axis) for axis in axes]
            self._width = max(self._width, sum(equal))
        self._conditions = list(self._distinct(conditions))
        self._holding: Mapping[RuleCondition, int] = dict(self._conditions)

    def rules(self, failing: int, legal: int) -> list[Conjunction]:
        """Conjunctions that cover ``failing`` and (almost) none of ``legal``, both sets of the sample, those that save
        most first. What is in neither counts for nothing: it fails otherwise."""
        if failing and not legal:
            return [Conjunction((), 0.0, failing, 0)]
        rules: list[Conjunction] = []
        left = failing
        while left and len(rules) < _MOST_RULES:
            best = max(self._candidates(left, legal), key=lambda rule: self._saved(rule, left), default=None)
            if best is None or self._saved(best, left) <= 0:
                break
            best = self._simplified(self._shortened(best, left, legal), left, legal)
            rules.append(Conjunction(best.conditions, best.bits, best.covered & failing, best.refuted))
            left &= ~best.covered
        return self._revised(rules, failing, legal)

    def _revised(self, rules: Sequence[Conjunction], failing: int, legal: int) -> list[Conjunction]:
        """The same rules, the longest first in as few bits as what no other covers can be said, and none where that is
        nothing: an early rule was chosen for all that it covers, also for what later rules say in fewer (as RIPPER
        revises its rules)."""
        revised: list[Conjunction | None] = list(rules)
        for number, rule in sorted(enumerate(rules), key=lambda each: -each[1].bits):
            left = failing
            for other in (*revised[:number], *revised[number + 1 :]):
                if other is not None:
                    left &= ~self._holds(other.conditions)
            if not left:
                revised[number] = None
            elif len(rule.conditions) > 1:
                best = max(self._candidates(left, legal), key=lambda each: self._saved(each, left), default=None)
                if best is not None and not left & ~best.covered:
                    best = self._simplified(self._shortened(best, left, legal), left, legal)
                    if best.bits < rule.bits and best.refuted.bit_count() <= rule.refuted.bit_count():
                        covered = self._holds(best.conditions) & failing
                        revised[number] = Conjunction(best.conditions, best.bits, covered, best.refuted)
        return [rule for rule in revised if rule is not None]

    def _holds(self, conditions: Sequence[RuleCondition]) -> int:
        """The sample's cells in which all of these hold."""
        cells = self._everywhere
        for condition in conditions:
            cells &= self._holding[condition]
        return cells

    def _saved(self, rule: Conjunction, left: int) -> float:
        return ((rule.covered & left).bit_count() - rule.refuted.bit_count()) * self._width - rule.bits

    def _distinct(self, conditions: Sequence[RuleCondition]) -> Iterator[tuple[RuleCondition, int]]:
        """Those that differ on the sample, the shortest of those that agree; with where they hold."""
        by_value = self._by_value()
        everywhere, seen = self._everywhere, set[int]()
        for condition in sorted(conditions, key=lambda each: each.bits):
            mask = 0
            for at in positions_of(self._grid, condition.axes):
                if condition.holds(at):
                    cells = everywhere
                    for axis, position in zip(condition.axes, at, strict=True):
                        cells &= by_value[axis][position]
                    mask |= cells
            if mask not in seen and mask not in (0, everywhere):
                seen.add(mask)
                yield condition, mask

    def _by_value(self) -> list[list[int]]:
        """For each axis and each of its values, the sample's cells that have it."""
        numbers: list[list[list[int]]] = [[[] for _ in axis.values] for axis in self._grid.axes]
        for number, cell in enumerate(self.sample):
            for axis, position in enumerate(self._grid.at(cell)):
                numbers[axis][position].append(number)
        return [[set_of(each) for each in values] for values in numbers]

    def _candidates(self, left: int, legal: int) -> Iterator[Conjunction]:
        """Rules with few enough exceptions, from a beam search over conjunctions."""
        beam: list[tuple[float, float, int, tuple[int, ...]]] = [(0.0, 0.0, self._everywhere, ())]
        before = log2(left.bit_count() / (left | legal).bit_count())
        seen, best = set[int](), 0.0
        for _ in range(_MOST_CONDITIONS):
            grown: list[tuple[float, float, int, tuple[int, ...]]] = []
            for _, bits, mask, chosen in beam:
                for index, (condition, holds) in enumerate(self._conditions):
                    both = mask & holds
                    covered = (both & left).bit_count()
                    total = bits + condition.bits
                    # A longer rule covers less and costs more: this is the most that it can save.
                    most = covered * self._width - total
                    if both == mask or most <= best or both in seen:
                        continue
                    seen.add(both)
                    refuted = (both & legal).bit_count()
                    if refuted * _EXAMPLES_PER_EXCEPTION <= covered and most - refuted * self._width > best:
                        numbers = (*chosen, index)
                        conditions = tuple(self._conditions[number][0] for number in numbers)
                        best = most - refuted * self._width
                        yield Conjunction(conditions, total, both & left, both & legal)
                    if refuted:
                        gain = covered * (log2(covered / (covered + refuted)) - before)
                        grown.append((gain, total, both, (*chosen, index)))
            beam = sorted(grown, key=lambda each: (-each[0], each[1]))[:_BEAM]

    def _simplified(self, rule: Conjunction, left: int, legal: int) -> Conjunction:
        """With shorter conditions in place of its own, as long as it covers no less and has no more exceptions."""
        masks = self._holding
        for condition in sorted(rule.conditions, key=lambda each: -each.bits):
            rest = [other for other in rule.conditions if other is not condition]
            holds = self._everywhere
            for other in rest:
                holds &= masks[other]
            for shorter, mask in self._conditions:
                if shorter.bits >= condition.bits:
                    break
                covered, refuted = holds & mask & left, holds & mask & legal
                if not rule.covered & left & ~covered and refuted.bit_count() <= rule.refuted.bit_count():
                    bits = rule.bits - condition.bits + shorter.bits
                    rule = Conjunction((*rest, shorter), bits, covered, refuted)
                    break
        return rule

    def _shortened(self, rule: Conjunction, left: int, legal: int) -> Conjunction:
        """Without the conditions that are not needed."""
        masks = self._holding
        for condition in sorted(rule.conditions, key=lambda each: -each.bits):
            rest = tuple(other for other in rule.conditions if other is not condition)
            holds = self._everywhere
            for other in rest:
                holds &= masks[other]
            shorter = Conjunction(rest, rule.bits - condition.bits, holds & left, holds & legal)
            if rest and shorter.refuted.bit_count() <= rule.refuted.bit_count():
                rule = shorter
        return rule
