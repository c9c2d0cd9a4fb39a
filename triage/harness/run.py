"""One compile: what it printed and reported, and what is known of its end."""

import errno
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.harness import artifacts, processes
from triage.harness.boundedlog import BoundedLog
from triage.harness.judge import RunFacts
from triage.harness.limits import Limits
from triage.harness.reads import ModuleReads
from triage.harness.repeats import Repeats
from triage.harness.worker import wire
from triage.model.outcome import Outcome, Stage, StageTime, Undecided

_MISSING = (*(os.strerror(number) for number in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)), "could not be opened")
"""The last are ptxas's words."""
_ENDED = b'{"ev":"ended"'
_PROGRESS = tuple(b'{"ev":"%s"' % name for name in (b"begin", b"end", b"pipeline"))
"""How the events begin that are four of five, and that nobody needs when the compile has ended well."""
_MOST = 1 << 50
"""Above every number of seconds and bytes that a compile can take."""


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
    _lines: list[bytes] = field(default_factory=list)
    _prefix: bytes = b""

    def __post_init__(self) -> None:
        self._prefix = self.token.encode() + b" "

    def take(self, line: bytes) -> bool:
        """Take a line of the result pipe; whether it says that the compile has ended well, and its process is ready for
        another."""
        if not line.startswith(self._prefix):
            return False
        if line.startswith(_ENDED, len(self._prefix)):
            return self._end(wire.parse_event(line, self.token) or {})
        self._lines.append(line)
        return False

    def _end(self, event: dict[str, Any]) -> bool:
        facts = self.facts
        match event:
            case {"seconds": float() as seconds, "max_rss_bytes": int() as size, "stages": list() as stages}:
                with suppress(TypeError, ValueError):
                    times = tuple(StageTime(Stage(name), float(seconds)) for name, seconds in stages)
                    if all(0 <= number < _MOST for number in (seconds, size, *(time.seconds for time in times))):
                        facts.status, facts.duration_s, facts.max_rss_bytes, facts.stages = 0, seconds, size, times
                        return True
        return False

    @property
    def has_begun(self) -> bool:
        """Whether its process has reported anything."""
        return bool(self._lines)

    def close(self) -> None:
        """It has ended, and its pipes are read."""
        facts, at = self.facts, len(self._prefix)
        for line in self._lines:
            if facts.stages is not None and line.startswith(_PROGRESS, at):
                continue
            if (event := wire.parse_event(line, self.token)) is not None:
                # JSON spells halves of characters as escapes.
                facts.events.append(_printable(event) if b"\\u" in line else event)
        facts.log, facts.dropped = self.log.text(), self.log.dropped
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


def _printable(value: Any) -> Any:
    """The same without halves of characters, which no file and no terminal takes."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_printable(name): _printable(item) for name, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list) else value
