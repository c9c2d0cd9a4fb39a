"""Handle of one server process, and the verdict on a server that never became ready."""

from __future__ import annotations

import json
import os
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from triage.harness import processes
from triage.harness.boundedlog import BoundedLog
from triage.harness.judge import (
    FROM_OUTSIDE,
    RunFacts,
    ended,
    last_line,
    python_errors,
    raised,
)
from triage.harness.limits import Limits
from triage.harness.messages import Ready
from triage.harness.reads import ModuleReads
from triage.harness.repeats import Repeats
from triage.harness.ulimits import memory_limit, ulimits
from triage.harness.worker import wire
from triage.harness.worker.loop import FAULT
from triage.model.outcome import Outcome, Stage, Status, Undecided
from triage.model.words import signal_name

Key = tuple[str, ...]
"""Identifies what a server serves; the key of the server above is a prefix of it."""


DISAPPEARING = "the processes under triage keep disappearing; is something killing them, or is memory short?"


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
    KILLED = "killed"
    DEAD = "dead"


@dataclass(slots=True, eq=False)
class Remote:
    """A server process. ``answer``: its ready message; ``reads``: what that says a case server's module read. ``log``:
    the pipe of its output. ``attempts``: runs below it; ``has_served``: whether there were any. ``facts``: how it
    ended, if it never became ready; ``fork_failed``: why its process could not be started. ``asked``: names of the
    processes that it was asked to start and whose end it has not reported, and whether it has started them. ``unfit``:
    it did what no server does, and is not used any more. ``compiler``: the title of what it imports. ``repeats``: how
    the runs below it ended."""

    level: Level
    key: Key
    sock: socket.socket
    above: Remote | None
    identity: str
    log: int
    output: BoundedLog = field(default_factory=lambda: BoundedLog(1 << 18, 1 << 18))
    state: ServerState = ServerState.STARTING
    process: processes.Process = field(default_factory=processes.Process)
    answer: Ready | None = None
    reads: ModuleReads | None = None
    asked: dict[str, bool] = field(default_factory=dict)
    unfit: bool = False
    deadline: float = float("inf")
    attempts: int = 0
    has_served: bool = False
    used: float = field(default_factory=time.monotonic)
    facts: RunFacts = field(default_factory=RunFacts)
    fork_failed: str = ""
    limits: Limits = field(default_factory=Limits)
    compiler: str = "the compiler"
    repeats: Repeats = field(default_factory=Repeats)

    def ask(self, message: dict[str, Any], fds: list[int] | None = None) -> bool:
        """Send; False when the process is gone. Raises wire.Unsendable."""
        try:
            wire.send_text(self.sock, json.dumps(message), fds or [])
        except (TypeError, RecursionError) as error:
            raise wire.Unsendable(f"a message to a worker cannot be written as JSON: {error}") from None
        except (wire.Closed, OSError):
            return False
        if message["op"] not in ("kill", "show", "dismiss"):
            self.asked[message["id"]] = False
        return True

    @property
    def was_killed(self) -> bool:
        """Whether it ended by no doing of its own or of triage's, as far as is known."""
        answered = self.answer is not None and self.answer.event is not None
        ended = not self.facts.stopped and not self.fork_failed and not answered
        return ended and (self.facts.status is None or signal_name(self.facts.signal) in FROM_OUTSIDE)

    def environment(self) -> dict[str, str]:
        """Versions that this server and those above it reported."""
        below = dict(self.answer.environment) if self.answer is not None else {}
        return {**self.above.environment(), **below} if self.above is not None else below

    @property
    def left(self) -> bool:
        """Whether a case server ended by itself, and not of what its module did on import."""
        if self.level is not Level.CASE or self.facts.status is None or self.facts.signal:
            return False
        return self.facts.status == FAULT << 8 if self.answer is None else self.answer.ok

    def close(self) -> None:
        """Close socket and log; a server exits when its socket closes."""
        self.state = ServerState.DEAD
        self.process.close()
        self.repeats.dismiss()
        self.sock.close()
        if self.log >= 0:
            os.close(self.log)
            self.log = -1


def unregister(selector: selectors.BaseSelector, end: socket.socket | int) -> None:
    """Stop watching ``end``, if it is watched."""
    with suppress(KeyError, ValueError):
        selector.unregister(end)


def judge_unready(remote: Remote) -> Outcome | Undecided:
    """The answer to every request that needs a server that never became ready.

    For servers above the case server that is Undecided (the compiler cannot be imported). A case server that died was
    importing the user's module, and that is an outcome of the case: stage ``source``.
    """
    facts, text = remote.facts, remote.output.text()
    if remote.fork_failed:
        return Undecided(f"no new process could be started: {remote.fork_failed}")
    if remote.was_killed and (facts.status is None or remote.level is not Level.CASE):
        return Undecided(DISAPPEARING)
    facts.ulimits = ulimits(remote.limits)
    event = remote.answer.event if remote.answer is not None else None
    if remote.level is not Level.CASE:
        return Undecided(f"{remote.compiler} cannot be imported there: {_why(facts, event, text)}")
    outcome = Outcome(
        status=Status.ERROR,
        stage=Stage.SOURCE,
        log=text,
        max_rss_bytes=facts.max_rss_bytes,
        limit_s=remote.limits.timeout_s,
        limit_bytes=remote.limits.memory_bytes,
        imported=False,
    )
    if event is not None and not facts.stopped:
        return raised(Path(remote.key[-2]).name, outcome, facts, event)
    return ended(outcome, facts)


def _why(facts: RunFacts, event: Mapping[str, Any] | None, printed: str) -> str:
    if event is not None:
        if event["ev"] == "undecided":
            return str(event["reason"])
        if event.get("no_memory") and (limit := memory_limit(facts.ulimits)) is not None:
            return limit
        return next((f"{error.type}: {error.message}".splitlines()[0] for error in python_errors(event["errors"])), "")
    if facts.timed_out:
        return "the import did not end in time"
    return last_line(printed) or (f"died of {signal_name(facts.signal)}" if facts.signal else "it ended without a word")


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
