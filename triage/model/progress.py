"""Callbacks for reporting progress."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from triage.model.errors import TriageError
from triage.model.target import Target


@dataclass(frozen=True, slots=True)
class Progress:
    """``warn`` gets a line that stays on the screen; ``problem`` an error that ends only a part of the work; ``note`` a
    line before anything that takes long; ``step`` what is being done right now, as often as that changes; ``tried`` how
    many neighbours were compiled and how many of them work; ``timing`` how many were timed, and of how many. Each may
    be left out."""

    warn: Callable[[str], None] = lambda line: None
    problem: Callable[[TriageError], None] = lambda error: None
    note: Callable[[str], None] = lambda line: None
    step: Callable[[str], None] = lambda line: None
    tried: Callable[[int, int], None] = lambda compiled, working: None
    timing: Callable[[int, int], None] = lambda done, of: None

    def caveats(self, targets: Iterable[Target]) -> None:
        """Warn, once each, of the targets that are newer than the table of architectures."""
        for line in dict.fromkeys(target.caveat for target in targets):
            if line is not None:
                self.warn(line)


@dataclass(slots=True)
class Countdown:
    """How many of the ``expected`` results are there, and how long the others take at the speed until now."""

    expected: int
    done: int = 0
    _began: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        numbers = f"{self.done} of {max(self.expected, self.done)}"
        if not 0 < self.done < self.expected:
            return numbers
        left_s = (time.monotonic() - self._began) / self.done * (self.expected - self.done)
        return f"{numbers}, {f'{left_s / 60:.0f} min' if left_s > 90 else f'{left_s:.0f} s'} left"
