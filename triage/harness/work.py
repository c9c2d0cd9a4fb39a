"""One attempt under way: its pipes, its limits, what it has said so far."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from triage.harness import observe
from triage.harness.boundedlog import BoundedLog
from triage.harness.judge import Facts
from triage.harness.remote import Remote, read_available
from triage.harness.request import FullCompile, PartialCompile, Request
from triage.harness.worker import wire
from triage.model.outcome import Outcome, Status

_PIPE_BYTES = 1 << 20
_MOST_EVENT_BYTES = 1 << 20
"""A line of the result pipe; the longest real one, an exception chain, is bounded by the worker at about 100 KB."""
MOST_RESULT_BYTES = 64 << 20
"""Bytes in the result pipe in all. Garbage above that ends the attempt."""


class Mode(Enum):
    """How an attempt runs: in a fork of a warm server, or in a process of its own, plain or observed."""

    FORK = "fork"
    FRESH = "fresh"
    OBSERVE = "observe"


@dataclass(slots=True, eq=False)
class Work:
    """An admitted request and the attempt that is being made at it."""

    request: Request
    number: int
    mode: Mode = Mode.FORK
    how: observe.How = observe.How.REPRODUCER
    isolation: str = ""
    losses: int = 0
    first: Outcome | None = None
    first_folder: Path | None = None
    token: str = field(default_factory=lambda: secrets.token_hex(8))
    identity: str = ""
    remote: Remote | None = None
    folder: Path | None = None
    log: BoundedLog = field(default_factory=BoundedLog)
    log_fd: int = -1
    result_fd: int = -1
    pid: int = 0
    started: float = 0.0
    deadline: float = float("inf")
    kill_deadline: float = float("inf")
    facts: Facts = field(default_factory=Facts)
    flooded: bool = False
    _buffer: bytearray = field(default_factory=bytearray)
    _received: int = 0

    @property
    def running(self) -> bool:
        """True between the asking for a process and its end."""
        return self.remote is not None

    @property
    def timeout_s(self) -> float:
        """Seconds this attempt may take; an observed one prints every pass's input."""
        limit = self.request.limits.timeout_s
        if self.mode is not Mode.OBSERVE:
            return limit
        if self.first is not None and self.first.status is Status.TIMEOUT:
            return min(limit, observe.HANGING_S)
        return limit * observe.SLOWDOWN

    def open(self, identity: str, folder: Path) -> tuple[int, int]:
        """New pipes and a clean state for the next attempt; returns the writing ends (log, result)."""
        self.identity, self.folder = identity, folder
        self.token = secrets.token_hex(8)
        self.log = BoundedLog(tail=observe.LOG_TAIL) if self.mode is Mode.OBSERVE else BoundedLog()
        self.facts, self.flooded, self.pid = Facts(), False, 0
        self._buffer, self._received = bytearray(), 0
        self.log_fd, log_write = _pipe()
        self.result_fd, result_write = _pipe()
        # Time starts with the process; until it has started, its server has as long.
        self.started = time.monotonic()
        self.deadline, self.kill_deadline = self.started + self.timeout_s, float("inf")
        return log_write, result_write

    def began(self, pid: int) -> None:
        """The process exists."""
        self.pid, self.started = pid, time.monotonic()
        self.deadline = self.started + self.timeout_s

    def read_log(self) -> bool:
        """Take in what was printed; False at the end of the pipe."""
        return read_available(self.log_fd, self.log)

    def read_result(self) -> bool:
        """Take in events; False at the end of the pipe."""
        while True:
            try:
                data = os.read(self.result_fd, 1 << 16)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._received += len(data)
            self.flooded = self.flooded or self._received > MOST_RESULT_BYTES
            if self.flooded:
                return True
            self._take(data)

    def _take(self, data: bytes) -> None:
        self._buffer += data
        *lines, rest = self._buffer.split(b"\n")
        # An endless line is garbage; what follows the next line break is heard again.
        self._buffer = bytearray(rest if len(rest) <= _MOST_EVENT_BYTES else b"")
        for line in lines:
            event = wire.parse_event(bytes(line), self.token)
            if event is not None:
                self.facts.events.append(event)

    def close(self) -> None:
        """Read what is left and let go of the pipes; the process is over."""
        self.read_log()
        self.read_result()
        self.facts.log, self.facts.dropped = self.log.text(), self.log.dropped
        self.facts.duration_s = time.monotonic() - self.started
        self.release()

    def release(self) -> None:
        """Close the pipes without reading."""
        for fd in (self.log_fd, self.result_fd):
            if fd >= 0:
                os.close(fd)
        self.log_fd = self.result_fd = -1
        self.remote = None

    def message(self, limits: dict[str, int], extra_environment: dict[str, str]) -> dict[str, Any]:
        """The request as the worker reads it."""
        case = self.request.case
        return {
            "token": self.token,
            "id": self.identity,
            "folder": str(self.folder),
            "path": str(case.path.resolve()),
            "kernel": case.name,
            "target": case.target.to_message(),
            "limits": limits,
            "memory_bytes": self.request.limits.memory_bytes,
            "environment": extra_environment,
            **_action_message(self.request),
            "case": {
                "language": case.language.value,
                "signature": dict(case.signature),
                "constexprs": dict(case.constexprs),
                "divisible": case.divisibility(),
                "options": dict(case.options),
            },
        }


def _action_message(request: Request) -> dict[str, Any]:
    """What to do with the case, as the worker reads it."""
    message: dict[str, Any] = {"until": None, "ir": None, "functions": None}
    match request.action:
        case FullCompile(entry=entry):
            message["functions"] = request.case.origin.get("functions") if entry else None
        case PartialCompile(until=stage):
            message["until"] = stage.value
        case task:
            message["ir"] = task.to_message()
    return message


def _pipe() -> tuple[int, int]:
    """A pipe whose reading end does not block; large, so that a busy compiler seldom waits for triage."""
    read, write = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(read, False)
    with suppress(OSError):  # Over the user's pipe quota: the default size works as well.
        fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return read, write
