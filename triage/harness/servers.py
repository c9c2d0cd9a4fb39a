"""The tree of fork servers as triage sees it: which there are, which are ready, and how to reach them.

Toolchain server (Triton imported) → target server (one kernel compiled for the target) → case server (the user's
module imported). Each is asked of the one above it; the first is asked of the nanny. See ``worker/server.py``.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from triage.harness.boundedlog import BoundedLog
from triage.harness.worker import wire

Key = tuple[str, ...]
"""(toolchain identity, isolation) + (target,) + (path, digest): a prefix of a key is the server above."""


class State(Enum):
    """The life of a server."""

    STARTING = "starting"
    READY = "ready"
    DEAD = "dead"


@dataclass(slots=True, eq=False)
class Remote:
    """One process that listens: the nanny or a server. ``answer`` is its ready message."""

    key: Key
    sock: socket.socket
    above: Remote | None
    identity: str
    log: int
    output: BoundedLog = field(default_factory=lambda: BoundedLog(1 << 18, 1 << 18))
    state: State = State.STARTING
    pid: int = 0
    answer: dict[str, Any] = field(default_factory=dict)
    deadline: float = float("inf")
    attempts: int = 0
    used: float = field(default_factory=time.monotonic)
    timed_out: bool = False
    over_memory: bool = False
    status: int | None = None
    max_rss_bytes: int = 0
    lld: str | None = None

    def ask(self, message: dict[str, Any], fds: list[int] | None = None) -> bool:
        """Send; False when the process is gone."""
        try:
            wire.send(self.sock, message, fds or [])
        except (wire.Closed, OSError):
            return False
        return True

    def close(self) -> None:
        """Let go of both ends: a server whose socket closes leaves."""
        self.state = State.DEAD
        self.sock.close()
        if self.log >= 0:
            os.close(self.log)
            self.log = -1


def read_available(fd: int, sink: BoundedLog, most: int = 1 << 20) -> bool:
    """Move what a non-blocking pipe holds into ``sink``. True while the pipe is open."""
    while most > 0:
        try:
            data = os.read(fd, 1 << 18)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        sink.write(data)
        most -= len(data)
    return True
