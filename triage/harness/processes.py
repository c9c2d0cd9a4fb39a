"""Processes below triage, read from /proc: their memory, and those that are left when the nanny itself was killed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
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
_LOOK_S = 0.05
"""How long the engine's loop may be held up by what processes share: half of the time between two looks."""
_MOST_READ = 1 << 16
"""Bytes of a file of /proc: the longest, the children of a task, is bounded by ``_MOST_PROCESSES``."""
_MOST_PROCESSES = 256
"""A compile has itself and an assembler."""


class Process:
    """A process below triage, known by number, and by a descriptor that never comes to mean another one. Both are
    empty (0, -1) where it is not known, the descriptor also where Linux has none (before 5.3)."""

    def __init__(self, pid: int = 0, pidfd: int = -1) -> None:
        self.pid = pid
        self.pidfd = pidfd

    @classmethod
    def child(cls, pid: int, parent: int) -> Process:
        """The process ``pid``, if it is a child of ``parent``; else an unknown one: it has ended, or never was."""
        pidfd = -1
        with suppress(OSError, AttributeError, OverflowError):
            pidfd = os.pidfd_open(pid)
        process = cls(pid, pidfd)
        if _stat(pid)[1:2] != [str(parent)]:
            process.close()
        return process

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, as far as that is known without its parent."""
        if self.pidfd < 0:
            return False
        ends = select.poll()
        ends.register(self.pidfd, select.POLLIN)
        return bool(ends.poll(0))

    def kill(self) -> None:
        """SIGKILL, directly: the server above it may not answer."""
        if self.pidfd >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def resume(self) -> None:
        """Let it go on if it was stopped. Nobody but a compile stops the processes below triage."""
        if self.pid and _stat(self.pid)[:1] == ["T"]:
            with suppress(OSError):
                os.kill(self.pid, signal.SIGCONT)

    def threads(self) -> int:
        """How many threads it has; 1 where that cannot be read."""
        with suppress(OSError):
            return len(os.listdir(f"/proc/{self.pid}/task"))  # noqa: PTH208 - for each compile
        return 1

    def close(self) -> None:
        """Forget it; safe to call twice."""
        if self.pidfd >= 0:
            os.close(self.pidfd)
        self.pid, self.pidfd = 0, -1


def _stat(pid: int) -> list[str]:
    """State, parent and the following fields of a process; empty when it is gone."""
    with suppress(OSError, ValueError):
        # The command name may hold spaces and parentheses; the fields that follow the last ')' do not.
        return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return []


def _read(path: str) -> str:
    """A small file of /proc. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, _MOST_READ).decode("ascii", "replace")
    finally:
        os.close(fd)


def rss_bytes(pid: int) -> int:
    """Bytes resident in ``pid``; 0 when it is gone."""
    with suppress(OSError, IndexError, ValueError):
        return int(_read(f"/proc/{pid}/statm").split()[1]) * _PAGE
    return 0


def _pss_bytes(pid: int) -> int:
    """The same with its share of what it shares with other processes; that takes 3 ms for 0.1 GB."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/smaps_rollup").read_text().partition("\nPss:")[2].split()[0]) << 10
    return rss_bytes(pid)


class Tree(NamedTuple):
    """What a process and everything below it use. ``crowded``: they are more than are counted."""

    memory_bytes: int
    crowded: bool


def tree(pid: int, limit_bytes: int) -> Tree:
    """The use of ``pid`` and everything below it; nothing when it is gone. Cheap enough for ten times a second.

    Pages that forks share count several times, unless the memory exceeds ``limit_bytes`` by that."""
    resident: dict[int, int] = {}
    queue = [pid]
    while queue and len(resident) < _MOST_PROCESSES:
        current = queue.pop()
        resident[current] = rss_bytes(current)
        queue += below(current)
    total, until = sum(resident.values()), time.monotonic() + _LOOK_S
    if len(resident) > 1:
        for process, size in resident.items():
            if total <= limit_bytes or time.monotonic() > until:
                break
            total -= size - _pss_bytes(process)
    return Tree(total, crowded=bool(queue))


def below(pid: int) -> list[int]:
    """The children of a process."""
    children: list[int] = []
    with suppress(OSError, ValueError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - ten times a second
            children += [int(child) for child in _read(f"/proc/{pid}/task/{task}/children").split()]
    return children


def kill_tree(pid: int) -> None:
    """SIGKILL a child of this process and everything below it. Each is stopped first, so that it starts nothing more.

    A nanny is left: it ends when its triage has, and cleans up."""
    tree, queue = list[int](), [pid]
    while queue and len(tree) < _MOST_PROCESSES:
        process = queue.pop()
        with suppress(OSError):
            if b"\0nanny\0" in Path(f"/proc/{process}/cmdline").read_bytes():
                continue
            os.kill(process, signal.SIGSTOP)
            tree.append(process)
            queue += below(process)
    for process in tree:
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)


def run_bounded(
    command: list[str], deadline_s: float, cwd: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end, in a session of its own. Raises subprocess.TimeoutExpired; however this ends early,
    nothing below the program is left."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=deadline_s)
    except BaseException:
        kill_tree(process.pid)
        process.communicate()
        raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


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
