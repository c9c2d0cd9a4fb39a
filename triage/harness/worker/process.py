"""Linux process settings by which nothing outlives triage: death signals, adoption of orphans, limits."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import resource
import signal
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Iterator, List

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
    """Disable core files, and bound the address space well above the memory limit; 0 means no bound of triage's.

    triage watches resident memory and kills at the limit; this is the backstop for an allocation that is faster
    than the watch, hence twice the limit above what is mapped now (LLVM and torch reserve far more than they use).
    Only the soft limit is set: the hard one is the environment's, and nobody but root may raise it.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    wanted = most
    if memory_bytes:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        wanted = mapped + 2 * memory_bytes
    # RLIM_INFINITY is -1.
    resource.setrlimit(resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


_SHOW = signal.SIGUSR2


@contextmanager
def showing_stack() -> Iterator[None]:
    """Within it, this process prints its Python stack when it dies of a signal, when ``os._exit`` is called, and when
    it is asked to by :func:`show_stack`; on the log, even if standard error is closed meanwhile."""
    log, me, leave = os.dup(2), os.getpid(), os._exit

    def shown(code: int) -> None:
        if os.getpid() == me:
            faulthandler.dump_traceback(log, all_threads=False)
        leave(code)

    faulthandler.enable(log, all_threads=False)
    faulthandler.register(_SHOW, log, all_threads=False)
    os._exit = shown  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = leave
        faulthandler.unregister(_SHOW)
        faulthandler.disable()
        os.close(log)


def show_stack(pid: int) -> None:
    """Have a child print its Python stack, if it is within :func:`showing_stack`; it may die of that else."""
    with suppress(ProcessLookupError):
        os.kill(pid, _SHOW)


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
