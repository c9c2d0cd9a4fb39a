"""What isolation needs of the operating system, each thing tried and not looked up by version."""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37


@dataclass(frozen=True, slots=True)
class Feature:
    """``why`` says what stops working without it."""

    name: str
    works: bool
    why: str


def features() -> list[Feature]:
    """Try all of them on this process; none changes it for longer than a moment."""
    return [
        Feature("pidfd_open", _works(_pidfd), "a worker's end is waited for through it (Linux 5.3)"),
        Feature("child_subreaper", _works(_subreaper), "what a dead worker leaves behind (ptxas) is collected with it"),
        Feature("proc_children", _works(_children), "the processes of an attempt are found in /proc/*/task/*/children"),
        Feature("unix_sockets", _works(_sockets), "workers are spoken to over socket pairs"),
    ]


def _works(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except (OSError, AttributeError):  # refused by the kernel or a sandbox; not in this Python or this libc
        return False
    return True


def _pidfd() -> None:
    os.close(os.pidfd_open(os.getpid()))


def _subreaper() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    before = ctypes.c_int()
    for call in (
        (_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0),
        (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0),
        (_PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0),
    ):
        if libc.prctl(*call) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def _children() -> None:
    Path(f"/proc/self/task/{os.getpid()}/children").read_bytes()


def _sockets() -> None:
    for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM):
        end.close()
