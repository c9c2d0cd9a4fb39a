"""Which strategy a sweep has, and how many compiles."""

from __future__ import annotations

from dataclasses import dataclass

from triage.model.errors import InputError
from triage.sweeps.active.strategy import ActiveStrategy, part_of
from triage.sweeps.exhaustive import ExhaustiveStrategy
from triage.sweeps.space import Space
from triage.sweeps.strategy import Strategy

MOST_EXHAUSTIVE = 2_000
"""Cells up to which all are compiled: with two jobs and a second for each, a quarter of an hour."""
_FOR_RULES = 20
"""One compile in so many of a budget tests the rules: most are confirmed by the map."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """``budget``: compiles at most, None for as many as it takes; ``exhaustive``: all cells, however many."""

    budget: int | None = None
    exhaustive: bool = False

    def check(self, space: Space | None = None) -> None:
        """Raises InputError for a plan that contradicts itself, or is not one for ``space``."""
        if space is not None and space.is_list and self.budget is not None:
            raise InputError("--budget: every configuration of a list is compiled; leave it out, or use --shard")
        if self.exhaustive and self.budget is not None:
            raise InputError("--exhaustive compiles every cell: leave out --budget")

    def is_exhaustive(self, space: Space) -> bool:
        """Whether every cell is compiled. A list always is: a prediction is not enough for a configuration in use."""
        cells = len(space.grid)
        if self.budget is not None and not space.is_list:
            return cells <= self.budget
        return space.is_list or self.exhaustive or cells <= MOST_EXHAUSTIVE

    def left(self, known: int) -> int | None:
        """What is left of the budget when the results of so many cells are in the ledger; None without one."""
        return None if self.budget is None else max(0, self.budget - known)

    def strategy(self, space: Space, known: int = 0) -> Strategy:
        """The strategy, where the results of so many cells are in the ledger."""
        if self.is_exhaustive(space):
            return ExhaustiveStrategy(space.grid)
        left = self.left(known)
        own = max(0, part_of(space.grid) - known) if left is None else left - left // _FOR_RULES
        return ActiveStrategy(space.grid, space.bases[0].target, own)

    def expected(self, space: Space) -> int:
        """Compiles at the most, without those that test the rules."""
        if self.is_exhaustive(space):
            return len(space.grid)
        return self.budget if self.budget is not None else part_of(space.grid)
