"""Linux process settings by which nothing outlives triage: death signals, adoption of orphans, limits."""

import ctypes
import os
import sys
from contextlib import contextmanager, suppress
from faulthandler import disable, dump_traceback, enable, register, unregister
from io import open as open_file
from os import O_CLOEXEC, O_RDONLY, _exit, close, dup, dup2, getpid, getppid, kill, killpg, listdir, read
from resource import RLIM_INFINITY, RLIMIT_AS, RLIMIT_CORE, RLIMIT_FSIZE, getpagesize, getrlimit, setrlimit
from signal import SIGKILL, SIGUSR2
from typing import Iterator, List

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_prctl = ctypes.CDLL(None, use_errno=True).prctl
_open = os.open


def die_with_parent(parent: int) -> None:
    """Have this process killed when ``parent`` dies, also if it died before this call."""
    _prctl(_PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if getppid() != parent:
        _exit(1)


def adopt_orphans() -> None:
    """Become the parent of every orphan below, so that a daemonised grandchild can be found and killed."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


MOST_FILE = 4 << 30
"""Bytes; more than any file of a compile: dumps of every pass, the largest, are some hundred MB."""


def limit(memory_bytes: int) -> None:
    """Disable core files, bound the size of a file, and the address space well above the memory limit; 0 means no bound
    of triage's.

    triage watches resident memory and kills at the limit; this is the backstop for an allocation that is faster
    than the watch, hence twice the limit above what is mapped now (LLVM and torch reserve far more than they use).
    Only the soft limit is set: the hard one is the environment's, and nobody but root may raise it.
    """
    setrlimit(RLIMIT_CORE, (0, 0))
    soft, most = getrlimit(RLIMIT_FSIZE)
    # RLIM_INFINITY is -1. Python ignores the signal, so that writing fails; an assembler dies of it.
    setrlimit(RLIMIT_FSIZE, (MOST_FILE if soft == RLIM_INFINITY else min(soft, MOST_FILE), most))
    _, most = getrlimit(RLIMIT_AS)
    wanted = most
    if memory_bytes:
        mapped = int(_read("/proc/self/statm").split()[0]) * getpagesize()
        wanted = mapped + 2 * memory_bytes
    setrlimit(RLIMIT_AS, (wanted if most == RLIM_INFINITY else min(wanted, most), most))


_SHOW = SIGUSR2


@contextmanager
def showing_stack() -> Iterator[None]:
    """Within it, this process prints its Python stack when it dies of a signal, when ``os._exit`` is called, and when
    it is asked to by :func:`show_stack`; on the log, even if standard error is closed meanwhile."""
    log, me = dup(2), getpid()

    def shown(code: int) -> None:
        if getpid() == me:
            dump_traceback(log, all_threads=False)
        _exit(code)

    enable(log, all_threads=False)
    register(_SHOW, log, all_threads=False)
    os._exit = shown  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = _exit
        unregister(_SHOW)
        disable()
        with suppress(OSError):  # The module may have closed it.
            close(log)


def show_stack(pid: int) -> None:
    """Have a child print its Python stack, if it is within :func:`showing_stack`; it may die of that else."""
    with suppress(ProcessLookupError):
        kill(pid, _SHOW)


def children() -> List[int]:
    """Process ids of this process's children, living and dead."""
    me = getpid()
    try:
        return [int(pid) for pid in _read("/proc/self/task/%d/children" % me).split()]
    except OSError:
        return [pid for pid in map(int, filter(str.isdigit, listdir("/proc"))) if _parent(pid) == me]


def _parent(pid: int) -> int:
    try:
        # The command name may hold spaces and parentheses; the fields that follow the last ')' do not.
        return int(_read("/proc/%d/stat" % pid).rpartition(")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return -1


def _read(path: str) -> str:
    """A file of /proc, with nothing in it that a module under test can replace."""
    fd = _open(path, O_RDONLY | O_CLOEXEC)
    try:
        parts: List[bytes] = []
        while True:
            part = read(fd, 1 << 16)
            if not part:
                return b"".join(parts).decode(errors="replace")
            parts.append(part)
    finally:
        close(fd)


def kill_group(pid: int) -> None:
    """SIGKILL a child and its process group; it may not be a group leader yet, or may have ended."""
    for end in (killpg, kill):
        try:
            end(pid, SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def redirect(log: int) -> None:
    """Connect standard input to /dev/null, standard output and error to ``log``, which is closed."""
    devnull = _open("/dev/null", O_RDONLY)
    for fd, standard in ((devnull, 0), (log, 1), (log, 2)):
        dup2(fd, standard)
    for fd in {devnull, log}:
        # Lower ones are the standard streams themselves: user code had closed some.
        if fd > 2:
            close(fd)
    # Line by line, so that Python's text and the compiler's interleave as they were printed. New objects, because
    # the old ones remember whether what they were opened on could seek.
    sys.stdout = sys.__stdout__ = open_file(1, "w", buffering=1, errors="backslashreplace", closefd=False)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = open_file(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # type: ignore[misc]
