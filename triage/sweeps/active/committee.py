"""The committee: several versions of the rules of each failure, which are kept as long as no compile contradicts them.

So a compile that was expected costs nothing but a look, and the members that are left after many compiles are those
that many compiles have tried to refute.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from triage.sweeps.active.evidence import FailureEvidence
from triage.sweeps.active.hypotheses import Clause, Learner
from triage.sweeps.active.measures import Measure, MeasureBoxes
from triage.sweeps.active.predicates import Predicate
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
            for predicate in clause.predicates
            for axis in predicate.measure.axes
        }

    def relearn(self, signature: str) -> None:
        """Learn the rules of a failure anew, as there is a new measure for it."""
        self._members.pop(signature, None)

    def recheck(self, measure: Measure) -> None:
        """Drop the members whose rules contradict a compiled cell now that the values of a measure have changed."""
        self._cells.clear()
        for signature, members in self._members.items():
            for number, clauses in enumerate(members):
                if clauses is not None and any(clause.uses(measure.name) for clause in clauses):
                    members[number] = self._checked_rules(signature, clauses, range(self._checked))

    def opinion(self) -> Opinion:
        """What the members say of all cells."""
        self._check()
        union = [0] * MEMBERS
        claimed: dict[str, CellSet] = {}
        rules: dict[str, tuple[Clause, ...]] = {}
        predicates = None
        for signature in self._evidence.signatures:
            members = self._members.setdefault(signature, [None] * MEMBERS)
            learner, claims = None, 0
            for number, clauses in enumerate(members):
                if clauses is None:
                    predicates = predicates or list(self._evidence.sample.predicates())
                    learner = learner or self._learner(signature, predicates)
                    members[number] = learner.rules(self._rng if number else None)
                cells = 0
                for clause in members[number] or ():
                    cells |= self._cells_of(clause)
                union[number] |= cells
                claims |= cells
            rules[signature] = members[0] or ()
            claimed[signature] = claims
        return Opinion(tuple(union), counted(union, self._grid.whole), claimed, rules)

    def _learner(self, signature: str, predicates: Iterable[tuple[Predicate, int]]) -> Learner:
        resources = None, self._evidence.resources.get(signature)
        return Learner(
            (each for each in predicates if each[0].measure.resource in resources),
            self._evidence.failing[signature],
            self._evidence.against(signature),
        )

    def _cells_of(self, clause: Clause) -> CellSet:
        key = tuple((predicate.measure.name, predicate.comparison, predicate.value) for predicate in clause.predicates)
        if key not in self._cells:
            self._cells[key] = clause.cells(self._boxes, self._grid.whole)
        return self._cells[key]

    def _check(self) -> None:
        """Drop the members whose rules do not say what was compiled since the last time."""
        compiled = len(self._evidence.sample.cells)
        for signature, members in self._members.items():
            for index, clauses in enumerate(members):
                if clauses is not None:
                    members[index] = self._checked_rules(signature, clauses, range(self._checked, compiled))
        self._checked = compiled

    def _checked_rules(
        self, signature: str, clauses: tuple[Clause, ...], numbers: Iterable[int]
    ) -> tuple[Clause, ...] | None:
        """Rules with what they cover of these compiled cells; None where they contradict one."""
        failing, against = self._evidence.failing[signature], self._evidence.against(signature)
        covered = [clause.covered for clause in clauses]
        for number in numbers:
            bit = 1 << number
            if not (failing | against) & bit:
                continue
            at = self._grid.at(self._evidence.sample.cells[number])
            holding = [clause.holds(at) for clause in clauses]
            if any(holding) != bool(failing & bit):
                return None
            if failing & bit:
                covered = [
                    cells | bit if holds else cells & ~bit for cells, holds in zip(covered, holding, strict=True)
                ]
        return tuple(replace(clause, covered=cells) for clause, cells in zip(clauses, covered, strict=True))


def counted(members: Sequence[CellSet], whole: CellSet) -> tuple[CellSet, ...]:
    """Cells by how many of the sets they are in."""
    votes = [whole] + [0] * len(members)
    for number, member in enumerate(members):
        for count in range(number + 1, 0, -1):
            votes[count] = votes[count] & ~member | votes[count - 1] & member
        votes[0] &= ~member
    return tuple(votes)
