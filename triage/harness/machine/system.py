"""What the operating system offers and limits: cores, memory, processes, files and disk for the compiles; and the
features that isolation needs, each tried and not looked up by version."""

import ctypes
import os
import resource
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """None means: no limit, or not known."""

    cores: int
    core_quota: float | None
    memory_total_bytes: int | None
    memory_available_bytes: int | None
    memory_cgroup_bytes: int | None
    processes: int | None
    open_files: int | None
    cache_free_bytes: int | None
    tmp_free_bytes: int | None


def limits(cache: Path) -> MachineLimits:
    """What applies to this process; ``cache`` need not exist yet."""
    total, available = _memory()
    return MachineLimits(
        cores=len(os.sched_getaffinity(0)),
        core_quota=_core_quota(),
        memory_total_bytes=total,
        memory_available_bytes=available,
        memory_cgroup_bytes=cgroup_memory_bytes(),
        processes=_soft_limit(resource.RLIMIT_NPROC),
        open_files=_soft_limit(resource.RLIMIT_NOFILE),
        cache_free_bytes=_free(cache),
        tmp_free_bytes=_free(Path(tempfile.gettempdir())),
    )


def _memory() -> tuple[int | None, int | None]:
    try:
        memory = psutil.virtual_memory()
    except (OSError, RuntimeError, psutil.Error):  # no /proc in some sandboxes
        return None, None
    return int(memory.total), int(memory.available)


def _soft_limit(which: int) -> int | None:
    soft, _ = resource.getrlimit(which)
    return None if soft == resource.RLIM_INFINITY else soft


def _free(folder: Path) -> int | None:
    for existing in (folder, *folder.parents):
        try:
            return shutil.disk_usage(existing).free
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return None


def cgroup_memory_bytes() -> int | None:
    """The lowest limit between this process's group and the root, from cgroups 2 and 1."""
    values = [
        int(text)
        for folder in _groups("memory")
        for name in ("memory.max", "memory.limit_in_bytes")
        if (text := _read(folder / name)).isdigit()
    ]
    # Version 1 writes "no limit" as a number near 2**63.
    return min((limit for limit in values if limit < 1 << 60), default=None)


def _core_quota() -> float | None:
    """CPU time a second that the scheduler grants, in cores; a container may see 64 cores and get two."""
    values = []
    for folder in _groups("cpu"):
        quota, _, period = _read(folder / "cpu.max").partition(" ")
        if not quota:
            quota, period = _read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")
        if quota.isdigit() and period.isdigit() and int(period):
            values.append(int(quota) / int(period))
    return min(values, default=None)


def _groups(controller: str) -> Iterator[Path]:
    """This process's control group for ``controller`` and those around it, in both versions' hierarchies."""
    for line in _read(_OWN_GROUPS).splitlines():
        _, controllers, group = line.split(":", 2)
        if not controllers:
            root = _CGROUPS
        elif controller in controllers.split(","):
            root = _CGROUPS / controller
        else:
            continue
        folder = root / group.lstrip("/")
        while True:
            yield folder
            if folder in (root, folder.parent):
                break
            folder = folder.parent


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Feature:
    """``why`` says what stops working without it."""

    name: str
    works: bool
    why: str


def features() -> list[Feature]:
    """Try all of them on this process; none changes it for longer than a moment."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    return [
        Feature(
            "pidfd_open",
            _works(lambda: os.close(os.pidfd_open(os.getpid()))),
            "a worker's end is waited for through it (Linux 5.3)",
        ),
        Feature("child_subreaper", _works(_subreaper), "what a dead worker leaves behind (ptxas) is collected with it"),
        Feature(
            "proc_children",
            _works(children.read_bytes),
            "the processes of an attempt are found in /proc/*/task/*/children",
        ),
        Feature("unix_sockets", _works(_sockets), "workers are spoken to over socket pairs"),
    ]


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except (OSError, AttributeError):  # refused by the kernel or a sandbox; not in this Python or this libc
        return False
    return True


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


def _sockets() -> None:
    for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM):
        end.close()
