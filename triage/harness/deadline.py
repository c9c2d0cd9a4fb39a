"""When the work of a call is given up: one value, shared by all who do a part of it."""

import math
import time
from dataclasses import dataclass

from triage.model.errors import EnvironmentFault


@dataclass(slots=True)
class Deadline:
    """``until``: in seconds of ``time.monotonic``."""

    until: float = math.inf

    @property
    def left_s(self) -> float:
        """Seconds that are left."""
        return self.until - time.monotonic()

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return self.left_s <= 0

    def check(self, doing: str) -> None:
        """Raises EnvironmentFault when nothing is left."""
        if self.over:
            raise EnvironmentFault(f"{doing} was given up: the time of this call is used up; give it a larger --budget")

    def stop(self) -> None:
        """Give up now, and do not begin anything."""
        self.until = -math.inf


BUDGET_MARGIN = 1.3
"""A call with a budget of seconds may take that many times as much: nothing begins when the budget is used up, and what
then runs, or confirms what was found, is given up after the rest."""
