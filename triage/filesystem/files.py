"""Reads and writes files in untrusted folders: the only check of what is read, and of where is written.

A case, a finished triage or another tool's folder may hold links, pipes and devices under the names of files. What is
read lies, with its links resolved, in the folder that it is read from, and is a regular file; what is written stays in
the folder that it is written to.
"""

import errno
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from triage.model.errors import EnvironmentFault, InputError

ANYWHERE = Path("/")
"""The folder of files that the user named, and of the user's own sources: their links are followed."""
MOST_SOURCE = 4 << 20
"""Bytes of a Python source. Its syntax tree takes up to 600 times as much memory (of assignments to a letter)."""
MOST_DOCUMENT = 8 << 20
"""Bytes of a JSON document; a report with 150 neighbours tried has 300 kB."""
# Linux's O_PATH needs no permission to list the folder.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW


class LeavesFolder(PermissionError):
    """A file that lies outside of its folder: by its name, or because a link leads there."""


def open_file(path: Path, folder: Path) -> BinaryIO:
    """Open a regular file that lies, with its links resolved, in ``folder``. Nothing else is opened, or waited for.

    Each folder on the way is opened without following links, so a link that appears after the check is refused.

    Raises OSError, whose ``strerror`` names the problem; LeavesFolder.
    """
    with _parent(path, folder) as (parent, name):
        # First, as opening a device may have effects.
        _check_regular(os.stat(name, dir_fd=parent, follow_symlinks=False))
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return _stream(os.open(name, flags, dir_fd=parent), "rb")


def read_file(path: Path, folder: Path, most: int) -> bytes:
    """The content of a regular file in ``folder``, of at most ``most`` bytes. Raises OSError; LeavesFolder."""
    with open_file(path, folder) as stream:
        size = os.fstat(stream.fileno()).st_size
        # Files of /proc have no size, and others may grow.
        data = stream.read(most + 1) if size <= most else b""
    if size > most or len(data) > most:
        raise OSError(errno.EFBIG, f"{max(size, len(data)) >> 20} MiB; at most {most >> 20} MiB are read")
    return data


def resolved(path: Path) -> Path:
    """The path without links, also where they lead in a circle: up to Python 3.12 ``Path.resolve`` raises there."""
    return Path(os.path.realpath(path))


def replace_file(path: Path, content: str | bytes, folder: Path | None = None) -> None:
    """Write ``content`` (text as UTF-8; a lone surrogate as "?") to a temporary file beside ``path`` and rename it.

    So a reader, or a run after a kill, sees the old content or the new, never half of it.

    Missing parent folders are made. No link below ``folder`` is followed; without it, none in the place of the file.
    Raises OSError; the temporary file is removed.
    """
    data = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    with _own_parent(path, folder or path.parent) as (parent, name):
        # Unique among processes and threads that write the same file; beside it, as a rename needs one file system.
        temporary = f".{name}.{os.getpid()}-{threading.get_ident()}"
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=parent)
        try:
            with _stream(os.open(temporary, _NEW | os.O_EXCL, 0o666, dir_fd=parent), "wb") as stream:
                stream.write(data)
            os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise


def open_log(path: Path, folder: Path) -> BinaryIO:
    """Open a file of ``folder`` to append to it; it is made where it is missing, and no link is followed. Raises
    OSError."""
    with _own_parent(path, folder) as (parent, name):
        return _stream(os.open(name, _NEW | os.O_APPEND | os.O_NONBLOCK, 0o666, dir_fd=parent), "ab")


def make_folder(path: Path, folder: Path) -> None:
    """Make a folder below ``folder`` where it is missing. Raises OSError where a link is in its place."""
    with _own_parent(path / "any", folder):
        pass


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


@contextmanager
def _parent(path: Path, folder: Path) -> Iterator[tuple[int, str]]:
    """The folder of a file in ``folder``, as a descriptor, and the file's name in it; with all links resolved."""
    try:
        top, real = os.path.realpath(folder), os.path.realpath(path)
    except ValueError as error:  # a null byte
        raise OSError(errno.EINVAL, f"not a file name: {error}") from None
    if os.path.commonpath([top, real]) != top:
        raise LeavesFolder(errno.EPERM, f"leads out of {folder}; put a copy of the file in its place", str(path))
    *steps, name = Path(real).relative_to(top).parts or (".",)
    with _opened(top, steps) as parent:
        yield parent, name


@contextmanager
def _own_parent(path: Path, folder: Path) -> Iterator[tuple[int, str]]:
    """The same for a file to write: missing folders are made, and no link is resolved."""
    folder.mkdir(parents=True, exist_ok=True)
    *steps, name = path.relative_to(folder).parts
    if ".." in steps:
        raise LeavesFolder(errno.EPERM, f"leads out of {folder}")
    with _opened(folder, steps, make=True) as parent:
        yield parent, name


@contextmanager
def _opened(top: str | Path, steps: list[str], make: bool = False) -> Iterator[int]:
    """A descriptor of the folder that steps from ``top`` lead to, none of which may be a link."""
    descriptor = os.open(top, _FOLDER)
    try:
        for step in steps:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(step, dir_fd=descriptor)
            try:
                below = os.open(step, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            except NotADirectoryError:
                raise NotADirectoryError(errno.ENOTDIR, f"{step} is a link or a file, not a folder") from None
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def _stream(descriptor: int, mode: str) -> BinaryIO:
    try:
        _check_regular(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return cast("BinaryIO", os.fdopen(descriptor, mode))


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
