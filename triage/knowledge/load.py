"""Read and validate the entries. A wrong field is named with its file and the mend."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from triage.data import data_folder
from triage.knowledge.entry import Advice, Entry, Symptoms
from triage.knowledge.matching import is_range
from triage.knowledge.recipes import RECIPE_NAMES
from triage.model.diagnosis import Kind
from triage.model.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_TOP = {
    "id", "title", "cause", "rule", "evidence", "fixed_in", "upstream", "reproducers", "match", "helps",
    "does_not_help", "rewrites",
}  # fmt: skip
_MATCH = {
    "kind", "function", "file", "message", "pass", "stage", "exception", "targets", "triton", "options",
}  # fmt: skip


VARIABLE = "TRITON_TRIAGE_KB"
"""Folders with entries of the user's own, separated by ``:``."""


def load_all(folders: tuple[Path, ...] = ()) -> tuple[Entry, ...]:
    """Every entry that is fit to use: those that ship with triage, those of ``$TRITON_TRIAGE_KB``, and of ``folders``.
    A broken file is left out; :func:`problems` names it."""
    return _load(_places(folders))[0]


def problems(folders: tuple[Path, ...] = ()) -> tuple[str, ...]:
    """What is wrong with the files that :func:`load_all` left out: one line each, with file, line and field."""
    return _load(_places(folders))[1]


def _places(folders: tuple[Path, ...]) -> tuple[Path, ...]:
    users = tuple(Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part)
    return (data_folder("knowledge_base"), *users, *folders)


@cache
def _load(places: tuple[Path, ...]) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    entries: dict[str, Entry] = {}
    broken: list[str] = []
    for place in places:
        if not place.is_dir():
            broken.append(f"{place}: no such folder of knowledge-base entries")
        for path in sorted(place.glob("*.toml")):
            try:
                entry = load(path)
            except InputError as error:
                broken.append(str(error))
                continue
            # A user's entry of the same id replaces the one that ships with triage.
            entries[entry.id] = entry
    return tuple(entries[id_] for id_ in sorted(entries)), tuple(broken)


def load(path: Path) -> Entry:
    """One file. Raises InputError naming the file, the field and the mend."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: {error}") from None
    bad = _Bad(path, text)
    bad.unknown(data, _TOP, "")
    if data.get("id") != path.stem:
        raise bad("id", f"must be the file's name, {path.stem!r}")
    for name in ("title", "cause", "rule"):
        if not isinstance(data.get(name), str) or not data[name].strip():
            raise bad(name, "must be text")
    if data.get("evidence") not in ("run", "log"):
        raise bad("evidence", "must be 'run' (reproducers prove it) or 'log' (none can run here)")
    reproducers = _texts(data, "reproducers", bad)
    if data["evidence"] == "run" and not reproducers:
        raise bad("reproducers", "evidence = 'run' needs at least one")
    return Entry(
        id=data["id"],
        title=data["title"],
        cause=" ".join(data["cause"].split()),
        rule=" ".join(data["rule"].split()),
        symptoms=_symptoms(data.get("match"), bad),
        evidence=data["evidence"],
        fixed_in=_fixed_in(data.get("fixed_in"), bad),
        upstream=_texts(data, "upstream", bad),
        reproducers=reproducers,
        helps=_advice(data, "helps", bad),
        does_not_help=_advice(data, "does_not_help", bad),
        rewrites=_rewrites(data, bad),
    )


class _Bad:
    """Makes the errors of one file."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._lines = text.splitlines()

    def __call__(self, field: str, problem: str) -> InputError:
        return InputError(f"{self._path}:{self._line(field)}: {field}: {problem}")

    def _line(self, field: str) -> int:
        """Where the field stands; tomllib keeps no places. 1 for a field that is not there."""
        name = re.escape(field.rpartition(".")[2])
        pattern = re.compile(rf"\s*(?:{name}\s*=|\[+\s*{name}\s*\]+)")
        return next((number for number, line in enumerate(self._lines, start=1) if pattern.match(line)), 1)

    def unknown(self, data: Mapping[str, Any], known: set[str], prefix: str) -> None:
        """Raise for the first field that the schema does not have."""
        for name in data:
            if name not in known:
                raise self(prefix + name, f"unknown field; known are {', '.join(sorted(known))}")


def _rewrites(data: Mapping[str, Any], bad: _Bad) -> tuple[str, ...]:
    names = _texts(data, "rewrites", bad)
    for name in names:
        if name not in RECIPE_NAMES:
            raise bad("rewrites", f"{name!r} is no recipe; known are {', '.join(RECIPE_NAMES)}")
    return names


def _symptoms(data: Any, bad: _Bad) -> Symptoms:
    if not isinstance(data, dict):
        raise bad("match", "must be a table")
    bad.unknown(data, _MATCH, "match.")
    specific = ("function", "file", "message", "pass", "exception")
    if not any(name in data for name in specific) and "kind" not in data:
        raise bad("match", f"would match everything; give one of kind, {', '.join(specific)}")
    kinds = _texts(data, "kind", bad)
    for kind in kinds:
        if kind not in {known.value for known in Kind}:
            raise bad("match.kind", f"{kind!r} is no kind of failure")
    return Symptoms(
        kind=kinds,
        function=_texts(data, "function", bad),
        file=_texts(data, "file", bad),
        message=_texts(data, "message", bad),
        pass_name=_texts(data, "pass", bad),
        stage=_texts(data, "stage", bad),
        exception=_texts(data, "exception", bad),
        targets=_texts(data, "targets", bad),
        triton=_range(data.get("triton"), bad),
        options=_options(data.get("options", {}), bad),
    )


def _fixed_in(value: Any, bad: _Bad) -> str | None:
    if value is not None and not (isinstance(value, str) and re.fullmatch(r"\d+\.\d+\.\d+", value)):
        raise bad("fixed_in", f"must be a release such as '3.3.0', not {value!r}")
    return value


def _range(value: Any, bad: _Bad) -> str | None:
    if value is not None and not (isinstance(value, str) and is_range(value)):
        raise bad("match.triton", f"must be a range such as '>=3.0,<3.3', not {value!r}")
    return value


def _options(value: Any, bad: _Bad) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(one, str | int) for one in value.values()):
        raise bad("match.options", "must be a table of values, or of comparisons such as num_ctas = '>1'")
    return MappingProxyType(value)


def _texts(data: Mapping[str, Any], name: str, bad: _Bad) -> tuple[str, ...]:
    value = data.get(name, [])
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(item, str) for item in values):
        raise bad(name, "must be text or a list of texts")
    return tuple(values)


def _advice(data: Mapping[str, Any], name: str, bad: _Bad) -> tuple[Advice, ...]:
    rows = data.get(name, [])
    if not isinstance(rows, list):
        raise bad(name, "must be an array of tables")
    for row in rows:
        texts = isinstance(row, dict) and all(isinstance(value, str) for value in row.values())
        if not texts or set(row) != {"change", "observed", "ran"}:
            raise bad(name, "each needs change, observed and ran (what it was run on)")
    return tuple(Advice(row["change"], row["observed"], row["ran"]) for row in rows)
