"""Keeps the parsed entries that ship with triage in its cache: reading 300 TOML files takes longer than a diagnosis.

What was stored is used as long as every file, and the code that reads them, are the same. A cache that cannot be read
or written costs time and nothing else.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from triage.filesystem import cache
from triage.filesystem.files import replace_file
from triage.knowledge import entry as schema
from triage.knowledge.entry import Advice, Entry, Symptoms

_MOST_FILES = 4
"""Stored files: one for each installation of triage, and each state of a checkout."""
Parsed = tuple[tuple[Entry, ...], tuple[str, ...]]
"""Entries, and the errors of the files that have none."""


def entries(folder: Path, parse: Callable[[Path], Parsed], code: Path) -> Parsed:
    """The entries of a folder of triage's own, stored or parsed. ``code``: the module that parses and validates."""
    try:
        digest = _digest(folder, code)
        stored = cache.cache_folder("knowledge") / f"entries-{digest[:16]}.json"
    except OSError:
        return parse(folder)
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        document = json.loads(stored.read_bytes())
        if document["digest"] == digest:
            return tuple(map(_entry, document["entries"])), ()
    parsed, errors = parse(folder)
    if not errors:
        with suppress(OSError):
            replace_file(stored, json.dumps({"digest": digest, "entries": [_fields(known) for known in parsed]}))
            newest = sorted(stored.parent.glob("entries-*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
            for path in newest[_MOST_FILES:]:
                path.unlink()
    return parsed, errors


def _digest(folder: Path, code: Path) -> str:
    digest = hashlib.sha256()
    names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(".toml"))
    for path in (__file__, schema.__file__, str(code), *(f"{folder}/{name}" for name in names)):
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - hundreds of files: a Path of each takes longer
            content = stream.read()
        digest.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()


def _fields(known: Entry) -> dict[str, Any]:
    """The fields that are not at their default."""
    fields = {name: getattr(known, name) for name in Entry.__slots__}
    fields["symptoms"] = _symptom_fields(known.symptoms)
    fields["alternatives"] = [_symptom_fields(symptoms) for symptoms in known.alternatives]
    for name in ("helps", "does_not_help"):
        fields[name] = [[tried.change, tried.observed, tried.ran] for tried in fields[name]]
    return {name: value for name, value in fields.items() if value}


def _symptom_fields(symptoms: Symptoms) -> dict[str, Any]:
    fields = {name: getattr(symptoms, name) for name in Symptoms.__slots__}
    return {name: value for name, value in {**fields, "options": dict(symptoms.options)}.items() if value}


def _symptoms(fields: Mapping[str, Any]) -> Symptoms:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return Symptoms(**{**values, "options": MappingProxyType(fields.get("options", {}))})


def _entry(fields: Mapping[str, Any]) -> Entry:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    values["symptoms"] = _symptoms(fields["symptoms"])
    values["alternatives"] = tuple(map(_symptoms, fields.get("alternatives", ())))
    for name in ("helps", "does_not_help"):
        values[name] = tuple(Advice(*tried) for tried in fields.get(name, ()))
    return Entry(**values)
