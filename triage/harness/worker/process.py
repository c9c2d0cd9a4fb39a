"""Linux process settings by which nothing outlives triage: death signals, adoption of orphans, limits."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from pathlib import Path
from typing import List

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int) -> None:
    """Have this process killed when ``parent`` dies, also if it died before this call."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of every orphan below, so that a daemonised grandchild can be found and killed."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def limit(memory_bytes: int) -> None:
    """Disable core files, and bound the address space well above the memory limit.

    triage watches resident memory and kills at the limit; this is the backstop for an allocation that is faster
    than the watch, hence twice the limit above what is mapped now (LLVM and torch reserve far more than they use).
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory_bytes:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + 2 * memory_bytes, resource.RLIM_INFINITY))


def children() -> List[int]:
    """Process ids of this process's children, living and dead."""
    me = os.getpid()
    try:
        return [int(pid) for pid in Path("/proc/self/task/%d/children" % me).read_text().split()]
    except OSError:
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _parent(pid) == me]


def _parent(pid: int) -> int:
    try:
        # The command name may hold spaces and parentheses; the fields that follow the last ')' do not.
        return int(Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return -1


def kill_group(pid: int) -> None:
    """SIGKILL a child and its process group; it may not be a group leader yet, or may have ended."""
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def redirect(log: int) -> None:
    """Connect standard input to /dev/null, standard output and error to ``log``."""
    devnull = os.open(os.devnull, os.O_RDONLY)
    os.dup2(devnull, 0)
    os.close(devnull)
    os.dup2(log, 1)
    os.dup2(log, 2)
    # Line by line, so that Python's text and the compiler's interleave as they were printed. New objects, because
    # the old ones remember whether what they were opened on could seek.
    sys.stdout = sys.__stdout__ = open(1, "w", buffering=1, errors="backslashreplace", closefd=False)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # type: ignore[misc]


def thread_count() -> int:
    """Threads of this process: a fork server must have one."""
    return len(os.listdir("/proc/self/task"))
