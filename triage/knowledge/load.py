"""Reads and validates entries. Each error names the file, the line, the field and the fix."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from triage.filesystem.files import ANYWHERE, MOST_DOCUMENT, read_file
from triage.filesystem.shipped import data_folder
from triage.knowledge import stored
from triage.knowledge.entry import PLACEHOLDER, Advice, Entry, Symptoms
from triage.knowledge.stored import Parsed
from triage.model.compilers import COMPILERS, TRITON
from triage.model.diagnosis import Kind
from triage.model.errors import InputError, unreadable
from triage.model.language import Language
from triage.model.releases import is_range
from triage.model.setting import SYSTEMS

_ENTRY_FIELDS = {
    "id", "title", "cause", "rule", "evidence", "fixed_in", "upstream", "reproducers", "match", "helps",
    "does_not_help", "rewrites", "generic", "next",
}  # fmt: skip
_MATCH_FIELDS = {
    "kind", "function", "file", "message", "pass", "stage", "exception", "compiler", "targets", "triton", "cute",
    "torch", "system", "options",
}  # fmt: skip

_MOST_BYTES = 1 << 20
"""Of an entry; the largest has 4 kB."""

VARIABLE = "TRITON_TRIAGE_KB"
"""Environment variable with folders of the user's own entries, separated by ``:``."""


def load_all(folders: tuple[Path, ...] = ()) -> tuple[Entry, ...]:
    """Every valid entry: those that ship with triage, those of ``$TRITON_TRIAGE_KB``, and those of ``folders``.

    Of several entries with the same id the last one is used. Invalid files are skipped; :func:`problems` names them.
    """
    return _load(_all_folders(folders))[0]


def problems(folders: tuple[Path, ...] = ()) -> tuple[str, ...]:
    """The errors of the files that :func:`load_all` skips: one line each, with file, line, field and fix."""
    return _load(_all_folders(folders))[1]


def _all_folders(folders: tuple[Path, ...]) -> tuple[Path, ...]:
    users = tuple(Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part)
    return (data_folder("knowledge_base"), *users, *folders)


@cache
def _load(folders: tuple[Path, ...]) -> Parsed:
    own, *users = folders
    parsed = [stored.entries(own, parse, Path(__file__)), *map(parse, users)]
    entries = {entry.id: entry for known, _ in parsed for entry in known}
    return tuple(entries[id_] for id_ in sorted(entries)), tuple(error for _, errors in parsed for error in errors)


def parse(folder: Path) -> Parsed:
    """The entries of a folder, and the errors of its files."""
    entries: list[Entry] = []
    errors: list[str] = []
    if not folder.is_dir():
        problem = "not a folder" if folder.exists() else "no such folder"
        errors.append(f"{folder}: {problem} of knowledge-base entries")
    for path in sorted(folder.glob("*.toml")):
        try:
            entries.append(load(path))
        except InputError as error:
            errors.append(str(error))
    return tuple(entries), tuple(errors)


def load(path: Path) -> Entry:
    """Read one entry. Raises InputError."""
    # Entries that are stored need neither this nor the recipes: both take as long to import as a short log to read.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        text = read_file(path, ANYWHERE, _MOST_BYTES).decode("utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise unreadable(path, error) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: {error}") from None
    return _File(path, text).entry(data)


def _compilers(reproducers: Iterable[str]) -> tuple[str, ...]:
    """The compilers of reproducers that ship with triage; empty for Triton alone, which entries are for by default."""
    languages = set()
    for name in reproducers:
        with suppress(OSError, ValueError, KeyError, TypeError):
            folder = data_folder("reproducers") / name
            document = json.loads(read_file(folder / "case.json", folder, MOST_DOCUMENT))
            languages.add(Language(document["language"]))
    names = tuple(sorted({language.compiler.name for language in languages}))
    return () if names == (TRITON.name,) else names


class _File:
    """The fields of one file; each method returns a valid value or raises InputError with file, line, field and fix."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def entry(self, data: Mapping[str, Any]) -> Entry:
        """The entry that the file holds."""
        from triage.suggest.rewrites.catalogue import RECIPES

        self._check_known(data, _ENTRY_FIELDS, "")
        if data.get("id") != self._path.stem:
            raise self._error("id", f"must be the file's name, {self._path.stem!r}")
        for name in ("title", "cause", "rule"):
            if not isinstance(data.get(name), str) or not data[name].strip():
                raise self._error(name, "must be text")
        self._check_finished()
        if data.get("evidence") not in ("run", "log"):
            raise self._error("evidence", "must be 'run' (reproducers prove it) or 'log' (none can run here)")
        reproducers = self._texts(data, "reproducers")
        if data["evidence"] == "run" and not reproducers:
            raise self._error("reproducers", "evidence = 'run' needs at least one")
        of_reproducers = _compilers(reproducers)
        return Entry(
            id=data["id"],
            title=data["title"],
            cause=" ".join(data["cause"].split()),
            rule=" ".join(data["rule"].split()),
            symptoms=self._symptoms(data.get("match"), _MATCH_FIELDS | {"or"}, of_reproducers),
            evidence=data["evidence"],
            fixed_in=self._optional(
                data, "fixed_in", re.compile(r"\d+\.\d+\.\d+").fullmatch, "a release such as '3.3.0'"
            ),
            upstream=self._texts(data, "upstream"),
            reproducers=reproducers,
            helps=self._advice(data, "helps"),
            does_not_help=self._advice(data, "does_not_help"),
            rewrites=self._names(data, "rewrites", RECIPES, "a recipe"),
            alternatives=self._alternatives(data["match"], of_reproducers),
            generic=self._flag(data, "generic"),
            next_steps=self._texts(data, "next"),
        )

    def _error(self, field: str, problem: str) -> InputError:
        return InputError(f"{self._path}:{self._line(field)}: {field}: {problem}")

    def _line(self, field: str) -> int:
        """The line of a field, 1 if it is missing. tomllib keeps no positions."""
        name = re.escape(field.rpartition(".")[2])
        pattern = re.compile(rf"\s*(?:{name}\s*=|\[+\s*{name}\s*\]+)")
        return next((number for number, line in enumerate(self._lines, start=1) if pattern.match(line)), 1)

    def _check_known(self, data: Mapping[str, Any], known: set[str], prefix: str) -> None:
        for name in data:
            if name not in known:
                raise self._error(prefix + name, f"unknown field; known are {', '.join(sorted(known))}")

    def _check_finished(self) -> None:
        for number, line in enumerate(self._lines, start=1):
            if PLACEHOLDER in line:
                field = line.partition("=")[0].strip()
                raise InputError(f"{self._path}:{number}: {field}: still says {PLACEHOLDER}; write the text")

    def _names(self, data: Mapping[str, Any], field: str, known: Iterable[str], noun: str) -> tuple[str, ...]:
        names = self._texts(data, field.rpartition(".")[2])
        for name in names:
            if name not in known:
                raise self._error(field, f"{name!r} is not {noun}; known are {', '.join(sorted(known))}")
        return names

    def _alternatives(self, data: Mapping[str, Any], compilers: tuple[str, ...]) -> tuple[Symptoms, ...]:
        tables = data.get("or", [])
        if not isinstance(tables, list):
            raise self._error("match.or", "must be an array of tables: [[match.or]]")
        return tuple(self._symptoms(table, _MATCH_FIELDS, compilers) for table in tables)

    def _symptoms(self, data: Any, fields: set[str], compilers: tuple[str, ...]) -> Symptoms:
        if not isinstance(data, dict):
            raise self._error("match", "must be a table")
        self._check_known(data, fields, "match.")
        specific = ("function", "file", "message", "pass", "exception")
        if not any(name in data for name in specific) and "kind" not in data:
            raise self._error("match", f"would match everything; give one of kind, {', '.join(specific)}")
        texts = {
            name: self._texts(data, name) for name in ("function", "file", "message", "stage", "exception", "targets")
        }
        return Symptoms(
            **texts,
            kind=self._names(data, "match.kind", [kind.value for kind in Kind], "a kind of failure"),
            pass_name=self._texts(data, "pass"),
            compiler=self._names(data, "match.compiler", list(COMPILERS), "a compiler") or compilers,
            triton=self._optional(data, "match.triton", is_range, "a range such as '>=3.0,<3.3'"),
            cute=self._optional(data, "match.cute", is_range, "a range such as '>=4.4,<4.6.3'"),
            torch=self._optional(data, "match.torch", is_range, "a range such as '>=2.6'"),
            system=self._optional(data, "match.system", SYSTEMS.__contains__, " or ".join(map(repr, SYSTEMS))),
            options=self._options(data.get("options", {})),
        )

    def _optional(
        self, data: Mapping[str, Any], field: str, is_valid: Callable[[str], object], expected: str
    ) -> str | None:
        value: str | None = data.get(field.rpartition(".")[2])
        if value is not None and not (isinstance(value, str) and is_valid(value)):
            raise self._error(field, f"must be {expected}, not {value!r}")
        return value

    def _flag(self, data: Mapping[str, Any], field: str) -> bool:
        value = data.get(field, False)
        if not isinstance(value, bool):
            raise self._error(field, f"must be true or false, not {value!r}")
        return value

    def _options(self, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, dict) or not all(isinstance(option, str | int) for option in value.values()):
            raise self._error("match.options", "must be a table of values, or of comparisons such as num_ctas = '>1'")
        return MappingProxyType(value)

    def _texts(self, data: Mapping[str, Any], name: str) -> tuple[str, ...]:
        value = data.get(name, [])
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
            raise self._error(name, "must be text or a list of texts")
        return tuple(values)

    def _advice(self, data: Mapping[str, Any], name: str) -> tuple[Advice, ...]:
        rows = data.get(name, [])
        if not isinstance(rows, list):
            raise self._error(name, "must be an array of tables")
        for row in rows:
            texts = isinstance(row, dict) and all(isinstance(value, str) for value in row.values())
            if not texts or set(row) != {"change", "observed", "ran"}:
                raise self._error(name, "each needs change, observed and ran (what it was run on)")
        return tuple(Advice(row["change"], row["observed"], row["ran"]) for row in rows)
