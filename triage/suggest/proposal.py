"""Proposals of neighbours, before they are compiled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Move(str, Enum):
    """What a change touches, cheapest for the user first."""

    OPTION = "option"
    TILE = "tile"
    NUMBER = "number"
    FLAG = "flag"
    TEXT = "text"
    LAYOUT = "layout"
    DTYPE = "dtype"
    DATA = "data"
    TARGET = "target"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Changes as ``Case.with_changes`` takes them, what they cost the user, and why they are worth a compile.

    ``distance`` counts what the user must touch: 1 is one step of one option; changes of the data or of the target
    are far away. It says nothing about how likely the neighbour is to compile.

    ``prior`` is how early it should be tried before the failure is looked at. Priors, and the evidence added to them,
    are on one scale: 0 is "surely first", and a difference of 1 is worth about ten compiles of a usual case.
    """

    changes: Mapping[str, Any]
    move: Move
    prior: float
    distance: float
    why: str

    @property
    def key(self) -> str:
        """Equal for proposals that change the same parameters to the same values, whatever proposed them."""
        return json.dumps(dict(self.changes), sort_keys=True)

    def combined(self, other: Proposal) -> Proposal | None:
        """Both at once; None where they touch the same parameter."""
        if set(self.changes) & set(other.changes):
            return None
        return Proposal(
            {**self.changes, **other.changes},
            max(self.move, other.move, key=list(Move).index),
            0.0,
            self.distance + other.distance,
            f"{self.why}; {other.why}",
        )
