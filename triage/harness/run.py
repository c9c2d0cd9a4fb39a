"""One run of a compile in a process of its own: its pipes, its deadlines, what it printed and reported."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.harness import processes
from triage.harness.boundedlog import BoundedLog
from triage.harness.judge import RunFacts
from triage.harness.limits import Limits
from triage.harness.remote import Remote, read_available
from triage.harness.worker import wire

_PIPE_BYTES = 1 << 20
_MOST_EVENT_BYTES = 1 << 20
"""A line of the result pipe; the longest real one, an exception chain, is bounded by the worker at about 100 KB."""
_MOST_RESULT_BYTES = 64 << 20
"""Bytes in the result pipe in all. Garbage above that ends the run."""
_KILL_GRACE_S = 5.0
"""A SIGKILL takes effect at once; a server that has not reported the end by then does not work any more."""
_NEVER = float("inf")


class RunClock:
    """Deadlines of one run, in monotonic seconds."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._kill_deadline = _NEVER
        # Until the process exists, its server has as long to start it.
        self.restart()

    def restart(self) -> None:
        """The process exists: its time starts now."""
        self.started = time.monotonic()
        self._deadline = self.started + self._limit_s

    def kill(self) -> None:
        """The process was killed; what is due next is the report of its end."""
        self._deadline, self._kill_deadline = _NEVER, time.monotonic() + _KILL_GRACE_S

    @property
    def killed(self) -> bool:
        return self._deadline == _NEVER

    @property
    def next_deadline(self) -> float:
        """When :meth:`timed_out` or :meth:`kill_failed` may next become true."""
        return min(self._deadline, self._kill_deadline)

    def timed_out(self, now: float) -> bool:
        return now > self._deadline

    def kill_failed(self, now: float) -> bool:
        """True, once, when the end of a killed process was not reported in time."""
        if now <= self._kill_deadline:
            return False
        self._kill_deadline = _NEVER
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
        events = (wire.parse_event(bytes(line), self._token) for line in lines)
        self.events += [event for event in events if event is not None]


@dataclass(slots=True, eq=False)
class Pipe:
    """The reading end of a pipe, and where its bytes go."""

    fd: int
    write: Callable[[bytes], None]

    def read(self) -> bool:
        """Read what is there; False at the end of the pipe."""
        return read_available(self.fd, self.write)


@dataclass(slots=True, eq=False)
class Run:
    """A run, from the request for its process to the judgement. ``server`` was asked for the process; it is None once
    that has ended."""

    identity: str
    folder: Path
    token: str
    server: Remote | None
    clock: RunClock
    log: BoundedLog
    events: Events
    pipes: tuple[Pipe, Pipe]
    facts: RunFacts
    pid: int = 0

    def kill(self) -> None:
        self.clock.kill()
        if self.server is not None:
            self.server.ask({"op": "kill", "id": self.identity})

    def close(self) -> None:
        """Read the rest of the pipes and close them; the process has ended."""
        for pipe in self.pipes:
            pipe.read()
            os.close(pipe.fd)
            pipe.fd = -1
        self.facts.events = self.events.events
        self.facts.log, self.facts.dropped = self.log.text(), self.log.dropped
        self.facts.duration_s = time.monotonic() - self.clock.started
        self.facts.oom_kills = processes.kernel_oom_kills() - self.facts.oom_kills
        self.server = None


def open_run(
    identity: str, folder: Path, server: Remote, limit_s: float, log: BoundedLog, environment: dict[str, str]
) -> tuple[Run, list[int]]:
    """A run with new pipes, and their writing ends: log, results."""
    token = secrets.token_hex(8)
    events = Events(token)
    log_pipe, log_write = open_pipe(log.write)
    result_pipe, result_write = open_pipe(events.write)
    facts = RunFacts(environment=environment, oom_kills=processes.kernel_oom_kills())
    run = Run(identity, folder, token, server, RunClock(limit_s), log, events, (log_pipe, result_pipe), facts)
    return run, [log_write, result_write]


def over_limit(pid: int, facts: RunFacts, limits: Limits) -> bool:
    """Whether ``pid`` and everything below it use more than they may; ``facts`` then say of what."""
    use = processes.tree(pid)
    facts.over_memory = use.rss_bytes > limits.memory_bytes
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
