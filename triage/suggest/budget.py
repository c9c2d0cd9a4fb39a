"""Limits on the cost of a search for neighbours."""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from typing import ClassVar

from triage.model.errors import InputError

ENOUGH = 4
"""Neighbours that lose nothing, of which the best by the model is within its error of the best that more would show."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Compiles and seconds, whichever is used up first. ``enough`` neighbours that lose nothing end the search, and
    a single one does after ``settled`` compiles: what is tried later is farther away. ``end``
    (``time.monotonic``): when the seconds of the whole call are used up, all searches and toolchains included, but for
    the compile of the case itself (see ``BUDGET_MARGIN``); infinite where they are those of each search."""

    most: ClassVar[int] = 150
    """Neighbours that are proposed for one case at all."""

    compiles: int = 48
    seconds: float = 90.0
    enough: int = ENOUGH
    settled: int = 16
    end: float = math.inf

    @classmethod
    def parse(cls, text: str) -> Budget:
        """``20`` is compiles, ``30s`` seconds of the call that begins now. Raises InputError."""
        match = re.fullmatch(r"(\d{1,6})(s?)", text.strip())
        if match is None or int(match[1]) == 0:
            raise InputError(f"--budget {text!r}: give compiles (20) or seconds (30s)")
        number = int(match[1])
        # A time budget lifts the limit on compiles.
        return (
            cls(compiles=cls.most, seconds=number, end=time.monotonic() + number) if match[2] else cls(compiles=number)
        )
