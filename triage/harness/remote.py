"""Handle of one server process, and the verdict on a server that never became ready."""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from triage.harness.boundedlog import BoundedLog
from triage.harness.judge import RunFacts, died, missing_import, python_errors
from triage.harness.limits import Limits
from triage.harness.worker import wire
from triage.model.outcome import Outcome, PythonError, Stage, Status, Undecided

Key = tuple[str, ...]
"""Identifies what a server serves; the key of the server above is a prefix of it."""


class Level(Enum):
    """Level in the tree of servers."""

    NANNY = 0
    TOOLCHAIN = 1
    TARGET = 2
    CASE = 3


class ServerState(Enum):
    """Life cycle of a server."""

    STARTING = "starting"
    READY = "ready"
    DEAD = "dead"


@dataclass(slots=True, eq=False)
class Remote:
    """A server process. ``answer``: its ready message. ``log``: the pipe of its output. ``attempts``: runs below it.
    ``facts``: how it ended, if it never became ready."""

    level: Level
    key: Key
    sock: socket.socket
    above: Remote | None
    identity: str
    log: int
    output: BoundedLog = field(default_factory=lambda: BoundedLog(1 << 18, 1 << 18))
    state: ServerState = ServerState.STARTING
    pid: int = 0
    answer: dict[str, Any] = field(default_factory=dict)
    deadline: float = float("inf")
    attempts: int = 0
    used: float = field(default_factory=time.monotonic)
    facts: RunFacts = field(default_factory=RunFacts)
    limits: Limits = field(default_factory=Limits)

    def ask(self, message: dict[str, Any], fds: list[int] | None = None) -> bool:
        """Send; False when the process is gone."""
        try:
            wire.send(self.sock, message, fds or [])
        except (wire.Closed, OSError):
            return False
        return True

    def environment(self) -> dict[str, str]:
        """Versions that this server and those above it reported."""
        below = dict(self.answer.get("environment", {}))
        return {**self.above.environment(), **below} if self.above is not None else below

    def close(self) -> None:
        """Close socket and log; a server exits when its socket closes."""
        self.state = ServerState.DEAD
        self.sock.close()
        if self.log >= 0:
            os.close(self.log)
            self.log = -1


def unregister(selector: selectors.BaseSelector, end: socket.socket | int) -> None:
    """Stop watching ``end``, if it is watched."""
    with suppress(KeyError, ValueError):
        selector.unregister(end)


def judge_unready(remote: Remote) -> Outcome | Undecided | None:
    """The answer to every request that needs a server that never became ready; None when its end is not known.

    For servers above the case server that is Undecided (Triton cannot be imported). A case server that died was
    importing the user's module, and that is an outcome of the case: stage ``source``.
    """
    errors = python_errors(remote.answer.get("errors", []))
    text = remote.output.text()
    if remote.level is not Level.CASE:
        return Undecided(f"Triton cannot be imported there: {_last_words(errors, text)}")
    if (undecided := missing_import(Path(remote.key[-2]).name, errors)) is not None:
        return undecided
    outcome = Outcome(
        status=Status.ERROR,
        stage=Stage.SOURCE,
        log=text,
        errors=errors,
        max_rss_bytes=remote.facts.max_rss_bytes,
        limit_s=remote.limits.timeout_s,
        limit_bytes=remote.limits.memory_bytes,
        imported=False,
    )
    if remote.facts.timed_out:
        return replace(outcome, status=Status.TIMEOUT)
    if remote.facts.over_memory:
        return replace(outcome, status=Status.OUT_OF_MEMORY)
    if errors:
        return replace(outcome, exit_code=1)
    return None if remote.facts.status is None else died(outcome, remote.facts.status)


def _last_words(errors: tuple[PythonError, ...], printed: str) -> str:
    if errors:
        return f"{errors[0].type}: {errors[0].message}".splitlines()[0]
    lines = [line for line in printed.splitlines() if line.strip()]
    return lines[-1] if lines else "it ended without a word"


def read_available(fd: int, write: Callable[[bytes], None], most: int = 1 << 20) -> bool:
    """Pass what a non-blocking pipe holds to ``write``. True while the pipe is open."""
    while most > 0:
        try:
            data = os.read(fd, 1 << 18)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        write(data)
        most -= len(data)
    return True
