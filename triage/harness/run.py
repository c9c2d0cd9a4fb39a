"""One compile: what it printed and reported, and what is known of its end."""

import errno
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from triage.harness import artifacts, processes
from triage.harness.boundedlog import BoundedLog
from triage.harness.judge import RunFacts
from triage.harness.limits import Limits
from triage.harness.reads import ModuleReads
from triage.harness.repeats import Repeats
from triage.model.outcome import Outcome, Undecided

_MISSING = (*(os.strerror(number) for number in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)), "could not be opened")
"""The last are ptxas's words."""


@dataclass(slots=True, eq=False)
class Run:
    """A run, from the request for its process to the judgement. ``is_active``: it has not ended. ``is_fresh``: its
    process is a fresh one. ``repeated``: its process had compiled something else before; ``repeats``: see
    :mod:`repeats`. ``flooded``: it reported more than any compile does."""

    folder: Path
    limit_s: float
    log: BoundedLog
    facts: RunFacts
    repeats: Repeats
    is_fresh: bool
    repeated: bool = False
    is_active: bool = True
    flooded: bool = False
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    def close(self) -> None:
        """It has ended, and its pipes are read."""
        self.facts.log, self.facts.dropped = self.log.text(), self.log.dropped
        self.is_active = False

    @property
    def reads(self) -> ModuleReads | None:
        """What the kernel's module read in a fresh process, as far as that reported it."""
        reported = [event.get("reads") for event in self.facts.events if event["ev"] == "imported"]
        return ModuleReads.parse(reported[-1]) if reported else None

    @property
    def lost_folder(self) -> bool:
        """Whether its folder is not there any more, or is not the one that triage made: a compile may have removed or
        replaced it, and what goes on in another process may have made it again. A fork makes it before it reports
        anything, a fresh process finds it."""
        if not self.facts.events and not self.is_fresh:
            return False
        return not (self.folder.is_dir() and not self.folder.is_symlink() and (self.folder / artifacts.STACK).is_file())

    def lacks_files(self, result: Outcome | Undecided) -> bool:
        """Whether the result is that files were missing in its folder, or in that of all runs: somebody else removes
        them, perhaps just now."""
        texts = [result.reason] if isinstance(result, Undecided) else [error.message for error in result.errors]
        return any(str(self.folder.parent) in text and any(missing in text for missing in _MISSING) for text in texts)


def over_limit(pid: int, facts: RunFacts, limits: Limits) -> bool:
    """Whether ``pid`` and everything below it use more than they may; ``facts`` then say of what."""
    use = processes.tree(pid, limits.memory_bytes)
    facts.over_memory = use.memory_bytes > limits.memory_bytes
    facts.crowded = use.crowded
    return facts.over_memory or facts.crowded
