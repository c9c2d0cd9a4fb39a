"""The folder in which triage keeps what it may need again. What lies in it decides what triage reports and which
interpreters it starts, so only its owner may write there."""

import errno
import fcntl
import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

from triage.filesystem.files import private_folder

FOLDERS = frozenset({"cases", "guarded", "knowledge", "library-keys", "outcomes", "slices", "toolchains"})
"""The folders of the cache."""
_UNTRUSTED = "it is another user's, or others may write to it"


def cache_root() -> Path:
    """The folder of the cache: ``$TRITON_TRIAGE_CACHE``, else in the user's cache folder."""
    chosen = os.environ.get("TRITON_TRIAGE_CACHE")
    if chosen:
        return Path(os.path.expanduser(chosen)).absolute()  # noqa: PTH111 - Path.expanduser raises
    return platformdirs.user_cache_path("triton-triage")


def cache_folder(name: str) -> Path:
    """A folder of the cache, one of ``FOLDERS``, made or closed to others; ``triage clean`` knows that a triage is at
    work as long as this process lives. Raises OSError where that cannot be."""
    root = own_root(cache_root())
    _hold(root)
    return own_folder(root / name)


def own_root(root: Path) -> Path:
    """The folder of the cache, made or closed to others. One that holds something else too is the user's, and stays as
    open as it is. Raises OSError."""
    try:
        is_shared = not {path.name for path in root.iterdir()} <= FOLDERS
    except FileNotFoundError:
        is_shared = False
    if not is_shared:
        return own_folder(root)
    if not is_trusted(root):
        raise PermissionError(errno.EPERM, _UNTRUSTED, str(root))
    return root


def is_at_work(root: Path) -> bool:
    """Whether another process uses the cache in ``root``. Raises OSError."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


@cache
def _hold(root: Path) -> None:
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with suppress(OSError):  # no locks on this file system, or another process is just looking
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)


def own_folder(folder: Path) -> Path:
    """A folder that only the user may enter, made or closed to others. A link of the user's own is followed. Raises
    OSError."""
    if folder.is_symlink() and folder.lstat().st_uid == os.geteuid():
        folder = folder.resolve()
    if not private_folder(folder):
        raise PermissionError(errno.EPERM, _UNTRUSTED, str(folder))
    return folder


def is_trusted(folder: Path) -> bool:
    """Whether only the user and the administrator could have changed what is in ``folder``; true where there is
    none."""
    try:
        facts, link = folder.stat(), folder.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    owners = {facts.st_uid, link.st_uid}
    return owners <= {os.geteuid(), 0} and not facts.st_mode & stat.S_IWOTH
