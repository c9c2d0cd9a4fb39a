"""Processes below triage, read from /proc: their memory, and those that are left when the nanny itself was killed."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MARK = "TRITON_TRIAGE_RUN"
"""The variable that holds the run's folder. Every process below triage is started with it, and a fork keeps it whatever
it does to its group, session, descriptors or parent."""
_PATIENCE_S = 2.0
"""Death signals reach a chain of processes one after the other; a process that lives longer cannot be killed."""
_PAGE = os.sysconf("SC_PAGE_SIZE")
_MOST_PROCESSES = 256
"""A compile has itself and an assembler."""


def rss_bytes(pid: int) -> int:
    """Bytes resident in ``pid``; 0 when it is gone."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return 0


class Tree(NamedTuple):
    """What a process and everything below it use. ``crowded``: they are more than are counted."""

    rss_bytes: int
    crowded: bool


def tree(pid: int) -> Tree:
    """The use of ``pid`` and everything below it; nothing when it is gone. Cheap enough for ten times a second."""
    total, queue, seen = 0, [pid], 0
    while queue and seen < _MOST_PROCESSES:
        current = queue.pop()
        seen += 1
        total += rss_bytes(current)
        with suppress(OSError, ValueError):
            for task in Path(f"/proc/{current}/task").iterdir():
                queue += [int(child) for child in (task / "children").read_text().split()]
    return Tree(total, crowded=bool(queue))


def kernel_oom_kills() -> int:
    """How many processes Linux has killed for want of memory since boot (all of them, /proc/vmstat)."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def kill_marked(run: Path) -> None:
    """SIGKILL every process of this user that carries the mark of ``run``, until none is left."""
    until = time.monotonic() + _PATIENCE_S
    while (pids := _marked(run)) and time.monotonic() < until:
        for pid in pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _marked(run: Path) -> list[int]:
    mark = b"\0%s=%s\0" % (MARK.encode(), os.fsencode(run))
    pids = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            # Zombies, kernel threads and other people's processes have no environment that can be read.
            with suppress(OSError):
                if mark in b"\0" + (entry / "environ").read_bytes():
                    pids.append(int(entry.name))
    return pids
