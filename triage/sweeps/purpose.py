"""Why a sweep compiled a cell, where the map says more of such cells than what they showed."""

from __future__ import annotations

from dataclasses import dataclass

from triage.model.document import Documented


@dataclass(frozen=True, slots=True)
class CellPurpose(Documented):
    """``votes``: of the members of a committee that called the cell illegal before it was compiled, None where none
    voted. ``is_random``: it was drawn at random, so that it bounds the error of what is predicted.
    ``tests_rule``: it was compiled to refute a rule. Kept with the result, so that a sweep that goes on, or parts that
    are merged, have the bound and the rules of a single run."""

    votes: int | None = None
    is_random: bool = False
    tests_rule: bool = False
