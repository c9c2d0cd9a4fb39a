"""One run of a compile, isolated from triage: its pipes, its deadlines, what it printed and reported."""

import errno
import fcntl
import os
import secrets
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.harness import artifacts, processes
from triage.harness.boundedlog import BoundedLog
from triage.harness.judge import RunFacts
from triage.harness.limits import Limits
from triage.harness.messages import Exited
from triage.harness.processes import Process
from triage.harness.reads import ModuleReads
from triage.harness.remote import Level, Remote, read_available
from triage.harness.repeats import Repeats
from triage.harness.worker import wire
from triage.model.outcome import Outcome, Undecided

_PIPE_BYTES = 1 << 20
_MOST_EVENT_BYTES = 1 << 20
"""A line of the result pipe; the longest real one, an exception chain, is bounded by the worker at about 100 KB."""
_MOST_RESULT_BYTES = 64 << 20
"""Bytes in the result pipe in all. Garbage above that ends the run."""
_REPORT_S = 1.0
"""A SIGKILL takes effect at once; a server that has not reported the end by then does not work any more. (A quarter of
the limit where that is less: a call may take twice its limit.)"""
START_S = 60.0
"""Importing Triton takes half a second warm and up to ten from a cold network disk."""
_BEGIN_S = (1.0, 5.0)
"""A fork takes milliseconds. One that has not begun after half its limit, but these seconds at least and at most, waits
for something that the module left in its server."""
_NEVER = float("inf")
_MISSING = (*(os.strerror(number) for number in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)), "could not be opened")
"""The last are ptxas's words."""


class RunClock:
    """Deadlines of one run, in monotonic seconds."""

    def __init__(self, limit_s: float, fresh: bool) -> None:
        self._limit_s, self._fresh, self._begun, self._ended = limit_s, fresh, False, False
        self._report_deadline = self._begin_deadline = _NEVER
        self.started = time.monotonic()
        if fresh:
            # Triton's import is no part of the compile, and runs none of the user's code.
            self._deadline = self.started + max(limit_s, START_S)
        else:
            self._deadline = self.started + limit_s
            self._begin_deadline = self.started + min(max(limit_s / 2, _BEGIN_S[0]), _BEGIN_S[1])

    def restart(self) -> None:
        """The process exists. The time of a fork starts now."""
        if not self._fresh:
            self._start()

    def begin(self) -> None:
        """The process has reported something. The time of a fresh process starts with the first report."""
        if self._fresh and not self._begun and not self.killed:
            self._start()
        self._begun, self._begin_deadline = True, _NEVER

    def _start(self) -> None:
        self.started = time.monotonic()
        self._deadline = self.started + self._limit_s

    def kill(self) -> None:
        """The process was killed."""
        self._deadline = _NEVER
        self.end()

    def end(self) -> None:
        """The process has ended, or is about to; what is due next is its server's report."""
        if self._ended:
            return
        self._ended = True
        self._begin_deadline = _NEVER
        self._report_deadline = time.monotonic() + min(_REPORT_S, self._limit_s / 4)

    @property
    def is_fresh(self) -> bool:
        """Whether it is that of a fresh process."""
        return self._fresh

    @property
    def killed(self) -> bool:
        return self._deadline == _NEVER

    @property
    def next_deadline(self) -> float:
        """When one of the following may next become true."""
        return min(self._deadline, self._report_deadline, self._begin_deadline)

    def timed_out(self, now: float) -> bool:
        return now > self._deadline

    def stuck(self, now: float) -> bool:
        """True, once, when the process has not begun in time, or its end was not reported in time."""
        if now <= min(self._report_deadline, self._begin_deadline):
            return False
        self._report_deadline = self._begin_deadline = _NEVER
        return True


class Events:
    """Events of the worker's recorder. ``flooded``: more came than any compile reports."""

    def __init__(self, token: str) -> None:
        self.events: list[dict[str, Any]] = []
        self.flooded = False
        self._token = token
        self._buffer = bytearray()
        self._received = 0

    def write(self, data: bytes) -> None:
        """Parse the bytes that came through the pipe."""
        self._received += len(data)
        self.flooded = self._received > _MOST_RESULT_BYTES
        if self.flooded:
            return
        self._buffer += data
        *lines, rest = self._buffer.split(b"\n")
        # An endless line is garbage; what follows the next line break is read again.
        self._buffer = bytearray(rest if len(rest) <= _MOST_EVENT_BYTES else b"")
        for line in lines:
            event = wire.parse_event(bytes(line), self._token) if line else None
            if event is not None:
                # JSON spells halves of characters as escapes.
                self.events.append(_printable(event) if b"\\u" in line else event)

    def reads(self) -> ModuleReads | None:
        """What the kernel's module read in a fresh process, as far as that reported it."""
        reported = [event.get("reads") for event in self.events if event["ev"] == "imported"]
        return ModuleReads.parse(reported[-1]) if reported else None


def _printable(value: Any) -> Any:
    """The same without halves of characters, which no file and no terminal takes."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_printable(name): _printable(item) for name, item in value.items()}
    return [_printable(item) for item in value] if isinstance(value, list) else value


_BUSY_BYTES = 32 << 10
"""Half of the smallest pipe: one that takes as much between two looks is read whenever it is readable."""


@dataclass(slots=True, eq=False)
class Pipe:
    """The reading end of a pipe, and where its bytes go. ``is_busy``: the last read found much; ``is_watched``: a loop
    reads it whenever it is readable."""

    fd: int
    write: Callable[[bytes], None]
    is_open: bool = True
    is_busy: bool = False
    is_watched: bool = False

    def read(self) -> bool:
        """Read what is there; False at the end of the pipe."""
        size = 0

        def write(data: bytes) -> None:
            nonlocal size
            size += len(data)
            self.write(data)

        self.is_open = self.is_open and read_available(self.fd, write)
        self.is_busy = size >= _BUSY_BYTES
        return self.is_open


@dataclass(slots=True, eq=False)
class Run:
    """A run, from the request for its process to the judgement. ``server`` was asked for the process; it is None once
    that has ended. ``oom_kills``: how many processes Linux had killed for want of memory when it began, or shortly
    before. ``repeated``: its process had compiled something else before; ``repeats``: see :mod:`repeats`."""

    identity: str
    folder: Path
    token: str
    server: Remote | None
    clock: RunClock
    log: BoundedLog
    events: Events
    pipes: tuple[Pipe, Pipe]
    facts: RunFacts
    oom_kills: int
    repeats: Repeats
    repeated: bool = False
    process: Process = field(default_factory=Process)

    @property
    def lost_folder(self) -> bool:
        """Whether its folder is not there any more, or is not the one that triage made: a compile may have removed or
        replaced it, and what goes on in another process may have made it again. A fork makes it before it reports
        anything, a fresh process finds it."""
        if not self.events.events and not self.clock.is_fresh:
            return False
        return not (self.folder.is_dir() and not self.folder.is_symlink() and (self.folder / artifacts.STACK).is_file())

    def lacks_files(self, result: Outcome | Undecided) -> bool:
        """Whether the result is that files were missing in its folder, or in that of all runs: somebody else removes
        them, perhaps just now."""
        texts = [result.reason] if isinstance(result, Undecided) else [error.message for error in result.errors]
        return any(str(self.folder.parent) in text and any(missing in text for missing in _MISSING) for text in texts)

    def ended(self, end: Exited) -> None:
        """Take what the server reports of the end."""
        self.facts.ended(end)
        self.repeated = end.repeated
        if end.waits and not self.clock.killed:
            self.repeats.waiting.append(self.process)
            self.process = Process()
        if self.facts.signal == signal.SIGKILL:
            self.facts.oom_kills = processes.kernel_oom_kills() - self.oom_kills

    def kill(self) -> None:
        self.clock.kill()
        self.process.kill()
        if self.server is not None:
            self.server.ask({"op": "kill", "id": self.identity})

    def close(self) -> None:
        """Read the rest of the pipes and close them; the process has ended."""
        for pipe in self.pipes:
            pipe.read()
            os.close(pipe.fd)
            pipe.fd = -1
        self.process.close()
        self.facts.events = self.events.events
        self.facts.log, self.facts.dropped = self.log.text(), self.log.dropped
        self.facts.duration_s = time.monotonic() - self.clock.started
        self.server = None


def open_run(
    identity: str,
    folder: Path,
    server: Remote,
    limit_s: float,
    log: BoundedLog,
    environment: dict[str, str],
    oom_kills: int,
) -> tuple[Run, list[int]]:
    """A run with new pipes, and their writing ends: log, results. ``oom_kills``: see :class:`Run`. Raises OSError."""
    token = secrets.token_hex(8)
    events = Events(token)
    log_pipe, log_write = open_pipe(log.write)
    result_pipe, result_write = open_pipe(events.write)
    clock = RunClock(limit_s, fresh=server.level is Level.NANNY)
    facts, pipes = RunFacts(environment=environment), (log_pipe, result_pipe)
    run = Run(identity, folder, token, server, clock, log, events, pipes, facts, oom_kills, server.repeats)
    return run, [log_write, result_write]


def over_limit(pid: int, facts: RunFacts, limits: Limits) -> bool:
    """Whether ``pid`` and everything below it use more than they may; ``facts`` then say of what."""
    use = processes.tree(pid, limits.memory_bytes)
    facts.over_memory = use.memory_bytes > limits.memory_bytes
    facts.crowded = use.crowded
    return facts.over_memory or facts.crowded


def open_pipe(write: Callable[[bytes], None]) -> tuple[Pipe, int]:
    """A pipe that does not block its reader, and its writing end. Large, so that a busy compiler seldom waits for
    triage."""
    read, writing = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(read, False)
    with suppress(OSError):  # Over the user's pipe quota: the default size works as well.
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return Pipe(read, write), writing
