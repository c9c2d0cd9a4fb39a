"""The committee: several versions of the rules of each failure, which are kept as long as no compile contradicts them.

So a compile that was expected costs nothing but a look, and the members that are left after many compiles are those
that many compiles have tried to refute.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from triage.sweeps.active.evidence import FailureEvidence
from triage.sweeps.active.hypotheses import Clause, Learner
from triage.sweeps.active.measures import MeasureBoxes
from triage.sweeps.grid import CellSet, Grid

MEMBERS = 9
"""An odd number, the member with the shortest rules among them: a majority there always is."""


@dataclass(frozen=True)
class Opinion:
    """``members``: the cells that each calls illegal, the one with the shortest rules first; ``votes[n]``: the cells
    that exactly ``n`` call so. ``claimed``: the cells that some member explains by a failure, by signature, those first
    that show first. ``rules``: the shortest."""

    members: tuple[CellSet, ...]
    votes: tuple[CellSet, ...]
    claimed: Mapping[str, CellSet]
    rules: Mapping[str, tuple[Clause, ...]]

    @cached_property
    def illegal(self) -> CellSet:
        """What the majority calls illegal."""
        cells = 0
        for voted in self.votes[(len(self.votes) + 1) // 2 :]:
            cells |= voted
        return cells


class Committee:
    """Members by failure, brought up to date as an opinion is asked for."""

    def __init__(self, grid: Grid, evidence: FailureEvidence, boxes: MeasureBoxes, rng: random.Random) -> None:
        self._grid, self._evidence, self._boxes, self._rng = grid, evidence, boxes, rng
        self._members: dict[str, list[tuple[Clause, ...] | None]] = {}
        self._checked = 0
        self._cells: dict[tuple[object, ...], CellSet] = {}

    @property
    def size(self) -> int:
        """Members."""
        return MEMBERS

    @property
    def used_axes(self) -> set[int]:
        """Axes that a rule of some member asks for."""
        return {
            axis
            for members in self._members.values()
            for clauses in members
            for clause in clauses or ()
            for condition in clause.conditions
            for axis in condition.measure.axes
        }

    def forget(self, names: Sequence[str]) -> None:
        """Measures of these names have changed: what rests on them is learnt anew."""
        changed = set(names)
        self._cells.clear()
        for members in self._members.values():
            for number, clauses in enumerate(members):
                used = {condition.measure.name for clause in clauses or () for condition in clause.conditions}
                if used & changed:
                    members[number] = None

    def relearn(self, signature: str) -> None:
        """Learn the rules of a failure anew, as there are new measures for it."""
        self._members.pop(signature, None)

    def opinion(self) -> Opinion:
        """What the members say of all cells."""
        self._check()
        union = [0] * MEMBERS
        claimed: dict[str, CellSet] = {}
        rules: dict[str, tuple[Clause, ...]] = {}
        conditions = None
        for signature in self._evidence.signatures:
            members = self._members.setdefault(signature, [None] * MEMBERS)
            learner, claims = None, 0
            for number, clauses in enumerate(members):
                if clauses is None:
                    conditions = conditions or list(self._evidence.sample.conditions())
                    learner = learner or Learner(
                        conditions, self._evidence.failing[signature], self._evidence.against(signature)
                    )
                    members[number] = learner.rules(self._rng if number else None)
                cells = 0
                for clause in members[number] or ():
                    cells |= self._cells_of(clause)
                union[number] |= cells
                claims |= cells
            rules[signature] = members[0] or ()
            claimed[signature] = claims
        return Opinion(tuple(union), counted(union, self._grid.whole), claimed, rules)

    def _cells_of(self, clause: Clause) -> CellSet:
        key = tuple((condition.measure.name, condition.comparison, condition.value) for condition in clause.conditions)
        if key not in self._cells:
            self._cells[key] = clause.cells(self._boxes, self._grid.whole)
        return self._cells[key]

    def _check(self) -> None:
        """Drop the members whose rules do not say what was compiled since the last time."""
        cells = self._evidence.sample.cells
        for number in range(self._checked, len(cells)):
            at, bit = self._grid.at(cells[number]), 1 << number
            for signature, members in self._members.items():
                fails = bool(self._evidence.failing[signature] & bit)
                if not fails and not self._evidence.against(signature) & bit:
                    continue
                for index, clauses in enumerate(members):
                    if clauses is None:
                        continue
                    holding = [clause.holds(at) for clause in clauses]
                    if any(holding) != fails:
                        members[index] = None
                    elif fails:
                        members[index] = tuple(
                            replace(clause, covered=clause.covered | bit) if holds else clause
                            for clause, holds in zip(clauses, holding, strict=True)
                        )
        self._checked = len(cells)


def counted(members: Sequence[CellSet], whole: CellSet) -> tuple[CellSet, ...]:
    """Cells by how many of the sets they are in."""
    votes = [whole] + [0] * len(members)
    for number, member in enumerate(members):
        for count in range(number + 1, 0, -1):
            votes[count] = votes[count] & ~member | votes[count - 1] & member
        votes[0] &= ~member
    return tuple(votes)
