"""Reads other tools' files within limits. Errors are one line."""

import json
import os
from itertools import islice
from pathlib import Path
from typing import Any

from triage.filesystem.files import open_file
from triage.model.case import MOST_IR
from triage.model.errors import InputError, unreadable

_HEAD = 1 << 20
"""Bytes at the beginning of a generated module that identify its generator."""
MOST_ENTRIES = 20_000
"""Limit on the entries of one folder; a cache of more kernels is read in part."""


def text(path: Path, top: Path, most: int = MOST_IR) -> str:
    """The text of a file in ``top``. Raises InputError if it is too large or binary."""
    data, size = _part(path, top, most)
    if size > most:
        raise InputError(f"{path}: {size >> 20} MiB; at most {most >> 20} MiB are read")
    if b"\0" in data:
        raise InputError(f"{path}: binary, not text")
    return data.decode("utf-8", "replace")


def head(path: Path, top: Path) -> str:
    """The beginning of a file in ``top``, which may be binary. Raises InputError."""
    return _part(path, top, _HEAD)[0].decode("utf-8", "replace")


def tail(path: Path, top: Path) -> str:
    """The end of a file in ``top``, which may be a log of any size. Raises InputError."""
    return _part(path, top, MOST_IR, from_end=True)[0].decode("utf-8", "replace")


def _part(path: Path, top: Path, most: int, from_end: bool = False) -> tuple[bytes, int]:
    """The beginning or the end of a file, and its size."""
    try:
        with open_file(path, top) as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(0, size - most) if from_end else 0)
            return stream.read(most), size
    except OSError as error:
        raise unreadable(path, error) from None


def json_object(path: Path, top: Path) -> dict[str, Any]:
    """The JSON object in a file in ``top``. Raises InputError."""
    try:
        data = json.loads(text(path, top, 16 << 20))
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
        raise unreadable(folder, error) from None
