"""What the import of a kernel's module read, as its worker reports it. While that is unchanged, an outcome holds."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.filesystem.files import ANYWHERE, read_file
from triage.harness.environment import worker_environment
from triage.harness.worker.reads import fingerprint

Facts = tuple[int, int, int, int]
"""Size of a file, nanosecond of the last change, inode, and nanosecond of the last change of any of it, which nobody
can set."""
_COMMON = 3
"""Of these facts, those that count for a file of an installed package: uv links it into other environments."""
_INSTALLED = ("site-packages", "dist-packages")
_VARIES = frozenset({"_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TEMP", "TERM", "TMP", "TMPDIR"})
"""Variables that differ from one terminal to the next, and are read by libraries that only pass them on."""
_MOST_DIGESTED = 4 << 20
"""Bytes of a file whose content is compared; of larger ones, which are data, size, time and inode."""


@dataclass(frozen=True, slots=True)
class ModuleReads:
    """``began``: when the import did, in seconds of the wall clock. ``folder``: the working folder, if a path was
    relative to it. ``files``: None for one that was looked for and is not there. ``variables``: hashes of values."""

    began: float
    folder: str | None
    files: Mapping[str, Facts | None]
    variables: Mapping[str, str | None]

    @classmethod
    def parse(cls, document: Any) -> ModuleReads | None:
        """What a worker reported; None for what is malformed, which the module under test may have caused."""
        try:
            files = {str(path): facts and _as_facts(facts) for path, facts in document["files"].items()}
            variables = {str(name): value and str(value) for name, value in document["variables"].items()}
            return cls(float(document["began"]), document["folder"], files, variables)
        except (TypeError, ValueError, KeyError, AttributeError):
            return None

    @property
    def own_files_are_unchanged(self) -> bool:
        """Whether the user's own files are as the import found them, and the variables."""
        own = {path: facts for path, facts in self.files.items() if not _is_installed(path)}
        return _are_current(own) and _is_current(self.folder, self.variables)

    @property
    def is_unchanged(self) -> bool:
        """Whether all of it is as the import found it, and nothing changed while it went on."""
        began_ns = int(self.began * 1e9)
        changed = any(facts[3] >= began_ns for path, facts in self.files.items() if facts and not _is_installed(path))
        return not changed and _are_current(self.files) and _is_current(self.folder, self.variables)

    def stored(self) -> str:
        """JSON text that :func:`holds` reads. The user's own files are in it by content as well, which a new checkout
        does not change; those of installed packages, of which torch has 3,000, are not."""
        files = {path: facts and [*facts, _digest(path, facts)] for path, facts in sorted(self.files.items())}
        return json.dumps({"folder": self.folder, "files": files, "variables": dict(self.variables)})


def holds(stored: Mapping[str, Any]) -> bool:
    """Whether what was read is still the same. Raises one of ValueError, TypeError, KeyError and AttributeError for
    another document than that of :meth:`ModuleReads.stored`."""
    if not _is_current(stored["folder"], stored["variables"]):
        return False
    for path, expected in stored["files"].items():
        *facts, digest = expected or (None,)
        if not _are_current({path: _as_facts(facts) if facts else None}):
            current = _facts(path)
            if digest is None or current is None or _digest(path, current) != digest:
                return False
    return True


def _are_current(files: Mapping[str, Facts | None]) -> bool:
    for path, facts in files.items():
        current = _facts(path)
        if current != facts and not (
            current and facts and _is_installed(path) and current[:_COMMON] == facts[:_COMMON]
        ):
            return False
    return True


def _is_current(folder: str | None, variables: Mapping[str, str | None]) -> bool:
    if folder is not None and folder != str(Path.cwd()):
        return False
    # Of Triton's, those that decide are in the key of an outcome, and the worker sets others itself.
    compared = [name for name in variables if name not in _VARIES and not name.startswith("TRITON_")]
    environment = worker_environment() if compared else {}
    values = {name: environment.get(name) for name in compared}
    return all((value and fingerprint(value)) == variables[name] for name, value in values.items())


def _as_facts(values: Any) -> Facts:
    size, changed, inode, touched = values
    return int(size), int(changed), int(inode), int(touched)


def _is_installed(path: str) -> bool:
    return any(name in path for name in _INSTALLED)


def _facts(path: str) -> Facts | None:
    try:
        facts = os.stat(path)  # noqa: PTH116 - 3,000 of them
    except (OSError, ValueError):
        return None
    return facts.st_size, facts.st_mtime_ns, facts.st_ino, facts.st_ctime_ns


def _digest(path: str, facts: Facts) -> str | None:
    """Of the content; None for what counts by its facts alone: installed packages, data, what cannot be read."""
    if _is_installed(path) or facts[0] > _MOST_DIGESTED:
        return None
    try:
        return hashlib.sha256(read_file(Path(path), ANYWHERE, _MOST_DIGESTED)).hexdigest()
    except (OSError, ValueError):
        return None
