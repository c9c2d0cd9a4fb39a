"""Kills what is left when the nanny itself was killed: its orphans are found by a variable in their environment.

Every process below triage is started with the run's mark, and a fork keeps it whatever it does to its group,
session, descriptors or parent.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

MARK = "TRITON_TRIAGE_RUN"
"""The variable that holds the run's folder."""
_PATIENCE_S = 2.0
"""Death signals reach a chain of processes one after the other; a process that lives longer cannot be killed."""


def kill(run: Path) -> None:
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
