"""Reads the configurations out of a JSON file, and replaces numbers in it: nothing else of the text changes."""

from __future__ import annotations

import itertools
import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from triage.filesystem.files import read_file
from triage.model.errors import InputError

_MOST_BYTES = 16 << 20
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\{')
"""What is looked for in a text: strings, numbers, and where objects begin."""


class _Number(int):
    """A whole number of a document, and its index among the numbers of the text."""

    index: int


@dataclass(frozen=True, slots=True)
class TunedEntry:
    """One configuration. ``path``: the keys that lead to it, such as the batch size; ``values``: its numbers, texts and
    flags by name."""

    path: tuple[str, ...]
    values: Mapping[str, Any]

    @property
    def name(self) -> str:
        """As it is shown."""
        return "/".join(self.path)

    @property
    def numbers(self) -> frozenset[str]:
        """The names of its whole numbers."""
        return frozenset(name for name, value in self.values.items() if isinstance(value, _Number))


@dataclass(frozen=True)
class TunedFile:
    """A file of configurations. ``name``: its path below the folder of the list."""

    name: str
    text: str
    entries: tuple[TunedEntry, ...]

    def with_values(self, changes: Mapping[tuple[str, ...], Mapping[str, int]]) -> str:
        """The text with other numbers: by the entry's path and the number's name. Raises KeyError for a number that
        the entry does not have."""
        numbers: dict[int, int] = {}
        for entry in self.entries:
            for name, value in changes.get(entry.path, {}).items():
                if not isinstance(entry.values.get(name), _Number):
                    raise KeyError(name)
                numbers[entry.values[name].index] = value
        return _replaced(self.text, numbers)

    @cached_property
    def lines(self) -> Mapping[tuple[str, ...], int]:
        """The line, counted from 1, on which each entry begins, by its path."""
        begins, begin = list[int](), 0
        for match in _TOKEN.finditer(self.text):
            if match[0] == "{":
                begin = match.start()
            elif not match[0].startswith('"'):
                begins.append(begin)
        # An entry holds no other object, so that the last one that begins before a number of it is the entry.
        first = {
            entry.path: begins[min(value.index for value in entry.values.values() if isinstance(value, _Number))]
            for entry in self.entries
        }
        newlines = [match.start() for match in re.finditer("\n", self.text)]
        return {path: bisect_left(newlines, begin) + 1 for path, begin in first.items()}


def read_tuned(path: Path) -> list[TunedFile]:
    """The files of a folder (whatever lies below it and ends in ``.json``), or one file; some may hold no
    configurations. Raises InputError where none does, or a file is not JSON."""
    paths = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    folder = path if path.is_dir() else path.parent
    files = [_read(each, folder) for each in paths]
    if not any(file.entries for file in files):
        raise InputError(f'{path}: no configurations in it; expected JSON objects such as {{"num_warps": 4, …}}')
    return files


def _read(path: Path, folder: Path) -> TunedFile:
    name = str(path.relative_to(folder))
    try:
        text = read_file(path, folder, _MOST_BYTES).decode()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8") from None
    return parsed(name, text, path)


def parsed(name: str, text: str, path: Path) -> TunedFile:
    """The file of this name and text; errors name ``path``. Raises InputError for what is not JSON."""
    indices = itertools.count()

    def whole(digits: str) -> _Number:
        number = _Number(digits)
        number.index = next(indices)
        return number

    def other(digits: str) -> float:
        next(indices)
        return float(digits)

    try:
        document = json.loads(text, parse_int=whole, parse_float=other)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON: {error}") from None
    return TunedFile(name, text, tuple(_entries(document, ())))


def _entries(value: Any, path: tuple[str, ...]) -> Iterator[TunedEntry]:
    """Objects that hold numbers and no further objects, at any depth; ``kwargs`` as Triton's cache of its autotuner and
    flash-linear-attention have them, beside the options of the launch, are of the entry itself."""
    if isinstance(value, dict) and isinstance(value.get("kwargs"), dict):
        options = {name: item for name, item in value.items() if type(item) in (_Number, bool, str)}
        value = {**options, **value["kwargs"]}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    inner = [(str(key), item) for key, item in items if _holds_objects(item)]
    for key, item in inner:
        yield from _entries(item, (*path, key))
    if not inner and isinstance(value, dict) and any(type(item) is _Number for item in value.values()):
        yield TunedEntry(path, value)


def _holds_objects(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_holds_objects, value)))


def _replaced(text: str, numbers: Mapping[int, int]) -> str:
    indices = itertools.count()

    def token(match: re.Match[str]) -> str:
        if match[0].startswith(('"', "{")):
            return match[0]
        index = next(indices)
        return str(numbers[index]) if index in numbers else match[0]

    return _TOKEN.sub(token, text)
