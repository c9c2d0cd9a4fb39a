"""Output files for continuous integration: checked before the work starts, written after it in any case."""

from __future__ import annotations

from pathlib import Path

from triage.model.errors import EnvironmentFault, InputError


def check(option: str, path: Path) -> None:
    """Raises InputError if the file cannot be created, before anything is compiled."""
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
    """Size in bytes; 0 if the file does not exist."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
