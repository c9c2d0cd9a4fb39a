"""Files that continuous integration reads: checked before the work, written after it whatever came of it."""

from __future__ import annotations

from pathlib import Path

from triage.model.errors import EnvironmentFault, InputError


def check(option: str, path: Path) -> None:
    """Raises InputError where no file can be made of that name, before anything is compiled for it."""
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist; make it first")
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder; name a file in it")


def write(option: str, path: Path, text: str) -> None:
    """Raises EnvironmentFault."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnvironmentFault(f"{option} {path}: cannot be written: {error.strerror}") from None


def append(option: str, path: Path, text: str) -> None:
    """Raises EnvironmentFault."""
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise EnvironmentFault(f"{option} {path}: cannot be written: {error.strerror}") from None


def size(path: Path) -> int:
    """Bytes that a file has; none where there is no file yet."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
