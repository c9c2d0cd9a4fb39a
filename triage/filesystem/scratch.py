"""Temporary folders, all below one folder of the user's own, and the removal of what killed processes left there.

A process that uses a temporary folder holds a shared lock on it, which ends with the process however that ends. A
folder that no process holds any more is a leftover, and the first process of triage that needs a temporary folder
removes it. Locks and not process ids: containers and machines that share the folder do not share those.
"""

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from triage.filesystem.files import private_folder, remove_tree
from triage.model.errors import EnvironmentFault

RETAINED = ".kept"
"""File that marks a folder whose results were reported to the user: the folder outlives its process."""
RETENTION_S = 30 * 86400.0
"""How long such results stay: as long as the captured cases in the cache."""
_NO_RESULT = {RETAINED, "tally"}
"""A guard counts the compiles of a program in ``tally``, also where none of them failed."""
_UNLOCKABLE_S = 7 * 86400.0
"""On a file system without locks, what has not changed for a week is a leftover: no program is triaged that long."""
_ROOM_BYTES = 8 << 20
"""What the stages and the temporary files of a large kernel take."""
_MOST_TRIES = 20
"""Each further try means that another process removed the empty parent folder in that very moment."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """A temporary folder that this process holds."""

    folder: Path
    _lock: int

    def keep(self) -> None:
        """Let it outlive this process: it is removed after ``RETENTION_S`` or once without results. Raises OSError."""
        (self.folder / RETAINED).touch()

    @property
    def has_results(self) -> bool:
        """Whether something is in it that a person may want."""
        return _has_results(self.folder)

    def remove(self) -> None:
        """Remove it, and the folder of all if that is empty now."""
        remove_tree(self.folder)
        self.leave()

    def leave(self) -> None:
        """Hold it no longer, and leave it to who else holds it; remove it if it is empty."""
        os.close(self._lock)
        remove_empty(self.folder)


def new(kind: str) -> Scratch:
    """A new, empty, private folder whose name begins with ``kind``. Raises EnvironmentFault."""
    base = Path(os.environ.get("TMPDIR") or "/tmp")
    try:
        base = Path(tempfile.gettempdir())
        for _ in range(_MOST_TRIES):
            # Between two of these lines another process may remove a folder that it saw empty, or not held.
            with suppress(FileNotFoundError):
                folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=_tidied_root(base)))
                return Scratch(folder, hold(folder))
    except OSError as error:
        reason = error.strerror
    else:
        reason = "something keeps removing them"
    raise EnvironmentFault(f"{base}: files cannot be made there ({reason}); set TMPDIR to another folder")


@contextmanager
def folder(kind: str) -> Iterator[Path]:
    """A temporary folder that is removed at the end. Raises EnvironmentFault."""
    scratch = new(kind)
    try:
        yield scratch.folder
    finally:
        scratch.remove()


def tidy() -> None:
    """Remove what killed processes left, once in a process: also where nothing temporary is needed."""
    with suppress(OSError):
        if root().is_dir():
            _tidied_root(Path(tempfile.gettempdir())).rmdir()  # if it is empty now


def hold(folder: Path) -> int:
    """Hold a folder as long as the returned descriptor is open, beside others that hold it. Raises FileNotFoundError
    when it is gone, and OSError."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # no locks on this file system
            fcntl.flock(lock, fcntl.LOCK_SH)
        if not os.path.samestat(os.fstat(lock), folder.lstat()):
            raise FileNotFoundError(folder)
    except BaseException:
        os.close(lock)
        raise
    return lock


def lacks_room(folder: Path) -> str | None:
    """The reason why nothing that failed in this folder says anything about a kernel: its disk is full. The assembler
    does not tell why it cannot write."""
    try:
        facts = os.statvfs(folder)
    except FileNotFoundError:
        return None  # The compile removed it, or it went with the servers that the compile killed.
    except OSError as error:
        return f"{folder} cannot be read: {error.strerror}"
    free = facts.f_bavail * facts.f_frsize
    # Some file systems have no fixed number of files, and report 0 of 0.
    if free >= _ROOM_BYTES and (facts.f_favail or not facts.f_files):
        return None
    return f"the disk of {tempfile.gettempdir()} is full ({free >> 10} KiB free); set TMPDIR to another folder"


def remove_empty(folder: Path) -> None:
    """Remove a temporary folder if it is empty, and the folder of all if that is empty then."""
    for path in (folder, folder.parent):
        with suppress(OSError):
            path.rmdir()


def leftovers(older_than_s: float = 0.0, retained: bool = False) -> Iterator[Path]:
    """Folders that no process holds, each locked until the next is asked for. Of those that hold results only the
    outdated ones, unless ``retained``; all of them unchanged for ``older_than_s`` seconds."""
    yield from _leftovers(root(), older_than_s, retained)


def held() -> int:
    """How many folders a process holds."""
    number = 0
    for folder in root().glob("*"):
        try:
            with _locked(folder):
                pass
        except BlockingIOError:
            number += 1
        except OSError:
            continue
    return number


def root() -> Path:
    """The folder of all temporary folders; it may not exist."""
    return _root(Path(tempfile.gettempdir()))


def _leftovers(root: Path, older_than_s: float, retained: bool) -> Iterator[Path]:
    """None of a folder that is another user's, or a link."""
    with suppress(OSError):
        facts = root.lstat()
        if facts.st_uid != os.geteuid() or not stat.S_ISDIR(facts.st_mode):
            return
        for folder in sorted(root.iterdir()):
            with suppress(OSError), _locked(folder) as age_s:
                if age_s >= older_than_s and (retained or age_s >= RETENTION_S or not _is_retained(folder)):
                    yield folder


@contextmanager
def _locked(folder: Path) -> Iterator[float]:
    """Hold a folder that no other process holds; yields the seconds since it changed. Raises OSError where one does."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        age_s = time.time() - os.fstat(lock).st_mtime
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            if age_s < _UNLOCKABLE_S:
                raise
        yield age_s
    finally:
        os.close(lock)


def _is_retained(folder: Path) -> bool:
    return (folder / RETAINED).exists() and _has_results(folder)


def _has_results(folder: Path) -> bool:
    return not {path.name for path in folder.iterdir()} <= _NO_RESULT


def _root(base: Path) -> Path:
    return base / f"triage-{os.geteuid()}"


def _tidied_root(base: Path) -> Path:
    """The folder of all temporary folders. Raises OSError."""
    root = _root(base)
    if not private_folder(root):
        # Whoever made that may change what is in it: triage leaves it alone, and works beside it.
        return Path(tempfile.mkdtemp(prefix=f"{root.name}-", dir=base))
    _tidy(root)
    return root


@cache
def _tidy(root: Path) -> None:
    """Once in a process: remove what killed processes left."""
    for folder in _leftovers(root, 0.0, retained=False):
        remove_tree(folder)
