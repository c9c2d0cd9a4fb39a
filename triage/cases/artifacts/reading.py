"""Reads other tools' files within limits. Errors are one line."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from triage.model.errors import InputError

MOST_BYTES = 64 << 20
"""Limit on a text of IR; the largest one of a failing kernel that was seen has 3 MB."""
_HEAD = 1 << 20
"""Bytes at the beginning of a generated module that identify its generator."""
MOST_ENTRIES = 20_000
"""Limit on the entries of one folder; a cache of more kernels is read in part."""


def text(path: Path, most: int = MOST_BYTES) -> str:
    """The text of a file. Raises InputError if it is too large or binary."""
    size = _size(path)
    if size > most:
        raise InputError(f"{path}: {size >> 20} MiB; at most {most >> 20} MiB are read")
    data = _part(path, 0, most)
    if b"\0" in data:
        raise InputError(f"{path}: binary, not text")
    return data.decode("utf-8", "replace")


def head(path: Path) -> str:
    """The beginning of a file, which may be binary. Raises InputError."""
    _size(path)
    return _part(path, 0, _HEAD).decode("utf-8", "replace")


def tail(path: Path) -> str:
    """The end of a file, which may be a log of any size. Raises InputError."""
    return _part(path, max(0, _size(path) - MOST_BYTES), MOST_BYTES).decode("utf-8", "replace")


def _size(path: Path) -> int:
    """The size of a regular file. Raises InputError for others: reading a pipe or device may never end."""
    try:
        if not path.is_file():
            raise InputError(f"{path}: not a regular file")
        return path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _part(path: Path, begin: int, most: int) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(begin)
            return stream.read(most)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def json_object(path: Path) -> dict[str, Any]:
    """A JSON object. Raises InputError."""
    try:
        data = json.loads(text(path, 16 << 20))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f"{path}: not a JSON object")
    return data


def entries(folder: Path) -> list[Path]:
    """The entries of a folder in order of name, without links, which could lead out of it. Raises InputError."""
    try:
        return sorted(entry for entry in islice(folder.iterdir(), MOST_ENTRIES) if not entry.is_symlink())
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
