"""The folder in which triage keeps what it may need again. What lies in it decides what triage reports and which
interpreters it starts, so nobody but its owner may write there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import platformdirs

from triage.files import private_folder


def cache_root() -> Path:
    """The folder of the cache: ``$TRITON_TRIAGE_CACHE``, else in the user's cache folder."""
    chosen = os.environ.get("TRITON_TRIAGE_CACHE")
    if chosen:
        return Path(os.path.expanduser(chosen)).absolute()  # noqa: PTH111 - Path.expanduser raises
    return platformdirs.user_cache_path("triton-triage")


def cache_folder(name: str) -> Path:
    """A folder of the cache, made or closed to others. Raises OSError where that cannot be."""
    return own_folder(own_folder(cache_root()) / name)


def own_folder(folder: Path) -> Path:
    """A folder that only the user may enter, made or closed to others. A link of the user's own is followed. Raises
    OSError."""
    if folder.is_symlink() and folder.lstat().st_uid == os.geteuid():
        folder = folder.resolve()
    if not private_folder(folder):
        raise PermissionError(errno.EPERM, "it is another user's, or others may write to it", str(folder))
    return folder


def is_trusted(folder: Path) -> bool:
    """Whether nobody but the user and the administrator could have changed what is in ``folder``; true where there is
    none."""
    try:
        facts, link = folder.stat(), folder.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    owners = {facts.st_uid, link.st_uid}
    return owners <= {os.geteuid(), 0} and not facts.st_mode & stat.S_IWOTH
