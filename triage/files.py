"""Writing and removing files: atomic replacement, private folders, and the error of what cannot be written."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from triage.model.errors import EnvironmentFault, InputError


def replace_file(path: Path, content: str | bytes) -> None:
    """Write ``content`` (text as UTF-8; a lone surrogate as "?") to a temporary file beside ``path`` and rename it.

    So a reader, or a run after a kill, sees the old content or the new, never half of it.

    Missing parent folders are made. Raises OSError; the temporary file is removed.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    # Unique among processes and threads that write the same file; beside it, as a rename needs one file system.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def writing(name: object) -> Iterator[None]:
    """Turn an OSError of the body into an EnvironmentFault: ``name`` cannot be written."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{name}: cannot be written: {error.strerror}") from None


def private_folder(folder: Path) -> bool:
    """Make a folder that only its owner may enter, with its parents, or close an existing one to others. False where
    others could have changed what is in it: a link, another user's folder, one that everybody may write to. Raises
    OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(0o700)
    if folder.lstat().st_uid != os.geteuid():
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except NotADirectoryError:
        return False
    try:
        facts = os.fstat(descriptor)
        if facts.st_uid != os.geteuid() or facts.st_mode & stat.S_IWOTH:
            return False
        if facts.st_mode & 0o077:
            os.fchmod(descriptor, facts.st_mode & 0o700)
    finally:
        os.close(descriptor)
    return True


def remove_tree(path: Path) -> None:
    """Remove a folder, also what may not be entered in it, or a file; of a link the link. What cannot be removed
    stays."""
    if path.is_symlink() or not path.is_dir():
        with suppress(OSError):
            path.unlink()
        return
    shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        with suppress(OSError):
            path.chmod(0o700)
        for root, names, _ in os.walk(path):
            for folder in (Path(root) / name for name in names):
                with suppress(OSError):
                    if not folder.is_symlink():
                        folder.chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)


def usable_folder(option: str, folder: Path) -> None:
    """Make the folder that an option names, and a file in it: before the work whose results it shall hold. Raises
    InputError, and EnvironmentFault where the disk is full."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{option} {folder}: a file is in its way; name another folder") from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise EnvironmentFault(f"{option} {folder}: cannot be written: {error.strerror}") from None
        raise InputError(f"{option} {folder}: cannot be written: {error.strerror}; name another folder") from None


def usable_file(option: str, path: Path) -> None:
    """Test that the file that an option names can be written later, without making it. Raises InputError."""
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; name a file in it")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"{option} {path}: cannot be written; name another file")
