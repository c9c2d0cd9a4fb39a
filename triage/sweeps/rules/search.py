"""From compiles to rules: learnt, tested by compiles that could refute them, learnt again."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

from triage.model.target import Target
from triage.sweeps.active.draw import draw
from triage.sweeps.active.evidence import stage_of
from triage.sweeps.grid import Cell, CellSet, Grid, cells_of, set_of
from triage.sweeps.observation import CellObservation, CellState, Predicted
from triage.sweeps.purpose import CellPurpose
from triage.sweeps.rule import SweepRule
from triage.sweeps.rules.conditions import RuleCondition
from triage.sweeps.rules.learner import Conjunction, RuleLearner
from triage.sweeps.rules.resources import over_limits
from triage.sweeps.strategy import Strategy

TESTS = 12
"""Compiles that a rule has to survive, or all that it covers where those are fewer. A rule that is wrong for a quarter
of its cells survives 3 % of the time."""
_WITH_MAP = TESTS // 2
"""Compiled cells of a rule that suffice where the map predicts the others to be illegal as well."""
_CONTRADICTED = 100
"""A rule is contradicted where the map predicts more than one in so many of its cells to be legal."""
_MOST_ROUNDS = 8
"""Of learning anew what a test refuted."""
Explain = Callable[[str, Sequence[Cell]], str | None]
"""What explains a failure, by its signature and cells where it was seen: a knowledge entry or a legality rule."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A rule of a failure before it is shown."""

    signature: str
    rule: Conjunction
    cells: CellSet


class RuleSearch:
    """A :class:`~triage.sweeps.strategy.Strategy` that runs after the one that filled the ``map``, which learns what it
    compiles.

    It proposes cells that the rules say are illegal and nobody has compiled, first those that the map predicts to be
    legal; one that compiles refutes its rule. ``target``: where that is no axis. ``budget``: compiles, None for as many
    as the rules need. ``tests``: observed cells that an earlier run compiled for this.

    A rule is shown that survived a test and has ``TESTS`` compiled cells, or all of its cells; half of them where a map
    predicts the others, unless it contradicts the rule in more than a hundredth of its cells: on 18 recorded grids 26
    of 27 such rules had exceptions, and 1 of 408 others."""

    def __init__(
        self,
        grid: Grid,
        observations: Mapping[Cell, CellObservation],
        target: Target,
        map: Strategy | None = None,
        budget: int | None = None,
        tests: Collection[Cell] = (),
    ) -> None:
        self._grid = grid
        self._target = target
        self._known = dict(observations)
        self._map = map
        self._budget = budget
        self._earlier = frozenset(tests)
        self._tests: set[Cell] = set(tests)
        self._waiting: set[Cell] = set()
        self._rounds = 0
        self._drafts = self._learnt()
        self._queue = self._chosen()

    # ---- the strategy

    def propose(self, count: int) -> Sequence[Cell]:
        """Cells that may refute a rule."""
        proposed = self._queue[:count]
        self._queue = self._queue[count:]
        self._waiting |= set(proposed)
        return proposed

    def purpose(self, cell: Cell) -> CellPurpose | None:
        """To test a rule."""
        return CellPurpose(tests_rule=True)

    def learn(self, cell: Cell, observation: CellObservation, purpose: CellPurpose | None = None) -> None:
        """A proposed cell was compiled."""
        self._known[cell] = observation
        if self._map is not None:
            self._map.learn(cell, observation)
        self._waiting.discard(cell)
        self._tests.add(cell)
        if not self._queue and not self._waiting:
            self._rounds += 1
            self._drafts = self._learnt()
            if self._rounds < _MOST_ROUNDS:
                self._queue = self._chosen()

    @property
    def is_done(self) -> bool:
        """No rule is left to test."""
        return not self._queue and not self._waiting

    def predict(self) -> Predicted:
        """As the map's strategy, which knows what was compiled here."""
        return Predicted() if self._map is None else self._map.predict()

    @property
    def tested(self) -> frozenset[Cell]:
        """The cells that were compiled for it in this run."""
        return frozenset(self._tests - self._earlier)

    # ---- the rules

    def rules(self, letters: Mapping[str, str], explain: Explain = lambda signature, cells: None) -> list[SweepRule]:
        """The rules that survived, those of the most frequent failure first."""
        known, tested = set_of(self._known), set_of(self._tests)
        predicted, legal = self._predictions()
        shown = []
        for draft in self._drafts:
            contradicted = _CONTRADICTED * (draft.cells & legal).bit_count() > draft.cells.bit_count()
            tests, seen = draft.cells & tested, draft.cells & known
            unseen = draft.cells & self._grid.allowed & ~known
            enough = TESTS if unseen & ~predicted else _WITH_MAP
            if contradicted or (unseen and not (tests and seen.bit_count() >= enough)):
                continue
            support = [cell for cell in cells_of(seen) if self._known[cell].signature == draft.signature]
            exceptions = sum(self._known[cell].is_legal is True for cell in cells_of(seen))
            conditions = self._ordered(draft.rule)
            shown.append(
                SweepRule(
                    text=" and ".join(["illegal where " + conditions[0].text, *(each.text for each in conditions[1:])])
                    if conditions
                    else "illegal everywhere",
                    failure=letters.get(draft.signature),
                    support=len(support),
                    exceptions=exceptions,
                    counter_examples_tried=tests.bit_count(),
                    python=" and ".join(condition.python for condition in conditions) or "True",
                    explained_by=explain(draft.signature, support),
                    names=tuple(self._grid.axes[axis].name for condition in conditions for axis in condition.axes),
                    cells=draft.cells & self._grid.allowed,
                )
            )
        return _merged(sorted(shown, key=lambda rule: (rule.failure or "", -rule.support)))

    def _ordered(self, rule: Conjunction) -> list[RuleCondition]:
        """As the axes are."""
        return sorted(rule.conditions, key=lambda each: each.axes)

    def _learnt(self) -> list[_Draft]:
        # A rule that holds on this machine alone would prune what compiles on others.
        decided = [
            cell for cell, seen in self._known.items() if seen.state is not CellState.UNTOLD and not seen.is_of_limits
        ]
        is_whole = not self._grid.allowed & ~set_of(self._known)
        failing: dict[str, list[int]] = {}
        stages: dict[str, int] = {}
        legal = []
        for number, cell in enumerate(decided):
            seen = self._known[cell]
            if seen.is_legal:
                legal.append(number)
            else:
                signature = seen.signature or ""
                failing.setdefault(signature, []).append(number)
                stage = stage_of(seen)
                stages[signature] = min(stage, stages.get(signature, stage))
        if not failing:
            return []
        learner = RuleLearner(self._grid, decided, is_whole, list(over_limits(self._grid, self._target, self._known)))
        counted = sorted(failing.items(), key=lambda item: -len(item[1]))
        return [
            _Draft(signature, rule, rule.cells(self._grid))
            for signature, numbers in counted
            # What fails at a later stage has passed where this would have failed; what fails earlier may hide it.
            for rule in learner.rules(
                set_of(numbers),
                set_of(
                    legal + [each for other in failing if stages[other] > stages[signature] for each in failing[other]]
                ),
            )
        ]

    def _chosen(self) -> list[Cell]:
        """Cells that test the rules that have not been tested enough, of each rule in turn."""
        known, tests, legal = set_of(self._known), set_of(self._tests), self._predictions()[1]
        missing = [
            (draft, max(TESTS - (draft.cells & tests).bit_count(), min(TESTS, (draft.cells & legal).bit_count())))
            for draft in self._drafts
        ]
        turns = [
            list(self._refuting(draft, draft.cells & self._grid.allowed & ~known, legal, count))
            for draft, count in missing
            if count > 0
        ]
        chosen = dict.fromkeys(cell for turn in zip_longest(*turns) for cell in turn if cell is not None)
        left = len(chosen) if self._budget is None else max(self._budget - len(self.tested), 0)
        return list(chosen)[:left]

    def _refuting(self, draft: _Draft, inside: CellSet, legal: CellSet, count: int) -> Iterator[Cell]:
        """Cells of the rule that nobody has compiled: those that the map predicts to be legal, then in turn those with
        a neighbour outside of the rule, and any."""
        order = random.Random(repr((draft.rule.bits, inside.bit_count())))
        doubted = draw(inside & legal, count, order)
        pool = draw(inside & ~legal, 20 * count, order)
        edge = [cell for cell in pool if any(not draft.cells >> near & 1 for near in self._grid.neighbours(cell))]
        mixed = (cell for pair in zip_longest(edge, pool) for cell in pair if cell is not None)
        yield from islice(dict.fromkeys([*doubted, *mixed]), count)

    def _predictions(self) -> tuple[CellSet, CellSet]:
        """The cells of which the map predicts something, and those among them that it predicts to be legal."""
        predicted = legal = 0
        for group in self.predict().groups:
            predicted |= group.cells
            legal |= group.cells if group.legal else 0
        return predicted, legal


def _merged(rules: Sequence[SweepRule]) -> list[SweepRule]:
    """One rule in place of several that say the same of different failures."""
    merged: dict[str, SweepRule] = {}
    for rule in rules:
        other = merged.get(rule.text)
        if other is None:
            merged[rule.text] = rule
        elif other.failure != rule.failure:
            tried = max(other.counter_examples_tried, rule.counter_examples_tried)
            merged[rule.text] = replace(
                other,
                failure=None,
                support=other.support + rule.support,
                counter_examples_tried=tried,
                explained_by=other.explained_by if other.explained_by == rule.explained_by else None,
            )
    return list(merged.values())
