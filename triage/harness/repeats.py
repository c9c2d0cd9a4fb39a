"""When a fork of a case server compiles one configuration after the other, and how many it is given at once.

That saves most of what isolation costs. A configuration that fails in a process that has compiled others is compiled
once more, in a fork of its own, and only that counts; so a fork goes on only where failures are rare enough.
"""

from dataclasses import dataclass, field

from triage.harness.processes import Process
from triage.harness.request import FullCompile, PartialCompile, Request
from triage.model.compilers import TRITON
from triage.model.outcome import Outcome, Status, Undecided

_FORK_S = 0.02
"""What a fork costs: 78 ms for a compile that takes 57 in a loop of one process (Triton 3.9.0)."""
_BATCH_S = 0.5
"""How long a batch may take. Triage's own part of a compile is a third where it handles several at once."""
MOST_AHEAD = 16
"""Compiles of a batch."""


@dataclass(slots=True)
class Repeats:
    """What is known of the runs below one case server. ``waiting``: its forks that wait for another."""

    runs: int = 0
    failures: int = 0
    seconds: float = 0.0
    waiting: list[Process] = field(default_factory=list)

    @property
    def pay(self) -> bool:
        """Whether a fork costs more than compiling once more what fails, at the rate seen so far (Laplace's rule)."""
        if not self.runs:
            return False
        return (self.failures + 1) / (self.runs + 2) * self.seconds / self.runs < _FORK_S

    @property
    def ahead(self) -> int:
        """How many more a fork is given with one."""
        mean_s = self.seconds / max(1, self.runs)
        return int(min(MOST_AHEAD - 1, _BATCH_S / max(mean_s, 1e-3)))

    def take(self) -> Process:
        """A fork that waits; an unknown process where none does."""
        while self.waiting:
            process = self.waiting.pop()
            if process.pid and not process.has_ended:
                return process
            process.close()
        return Process()

    def dismiss(self) -> bool:
        """Forget those that wait; whether there were any."""
        waited = bool(self.waiting)
        while self.waiting:
            self.waiting.pop().close()
        return waited

    def add(self, result: Outcome | Undecided, seconds: float) -> None:
        """A run has ended, after so many seconds."""
        self.runs += 1
        self.seconds += seconds
        self.failures += not returned(result)


def can_repeat(request: Request) -> bool:
    """Whether nothing is left in a process that has done this."""
    if request.toolchain.compiler is not TRITON or request.case.is_ir:
        return False
    match request.action:
        case FullCompile(entry=entry):
            return entry is None
        case PartialCompile():
            return True
        case _:
            return False


def returned(result: Outcome | Undecided) -> bool:
    """Whether the compile returned, and no word of it is in doubt. A kernel may still be larger than the target's
    memory."""
    return isinstance(result, Outcome) and (result.status is Status.OK or bool(result.over_limit))
