"""Outcomes remembered across runs: a content-addressed SQLite file, with the artifacts of failures beside it.

The key is everything that decides an outcome: the kernel's source and configuration, the target, the toolchain's
identity, the variables that steer the compiler, and triage's own worker. Files that the kernel's module imported
are recorded with the outcome and looked at again before it is reused.

A time-out or a memory kill holds only for the limit it met, so it is reused for limits no larger than that. What
triage could not tell, or what was killed from outside, is never stored.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeVar

from triage._version import __version__
from triage.harness import artifacts
from triage.harness.environment import deciding_variables
from triage.harness.limits import Limits
from triage.harness.request import FullCompile, Request
from triage.harness.toolchains import cache_root
from triage.model.document import decode, encode
from triage.model.errors import InputError
from triage.model.outcome import Outcome, Status

_SCHEMA = 2
_MOST_KEPT = 400
"""Failures whose artifacts are files; a failing attention kernel's are about 2 MB."""
_MOST_LOG = 1 << 20
_BUSY_S = 10.0

T = TypeVar("T")


class Store:
    """One SQLite file and one folder of artifacts. Every fault of the disk counts as "not remembered": it makes triage
    slower, and does not make it fail."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_root() / "outcomes"
        self._artifacts = self.folder / "artifacts"
        self._connection: sqlite3.Connection | None = None

    def get(self, request: Request) -> Outcome | None:
        """The remembered outcome, if it answers this request."""
        if not isinstance(request.action, FullCompile) or not request.action.use_cache:
            return None
        key = key_of(request)
        row = self._try(
            lambda db: db.execute(
                "SELECT outcome, dependencies, artifacts, observed FROM outcomes WHERE key = ?", (key,)
            ).fetchone()
        )
        if row is None or any(_digest(Path(path)) != digest for path, digest in json.loads(row[1]).items()):
            return None
        files = {name: self._artifacts / key / file for name, file in json.loads(row[2]).items()}
        try:
            outcome = loads(row[0], files)
        except (ValueError, InputError):
            return None
        if not _answers(outcome, request.limits, request.action, files, observed=bool(row[3])):
            return None
        self._try(lambda db: db.execute("UPDATE outcomes SET used = ? WHERE key = ?", (time.time(), key)))
        return outcome

    def put(self, request: Request, outcome: Outcome, folder: Path | None, dependencies: Iterable[str]) -> Outcome:
        """Remember an outcome, and copy a failure's artifacts out of ``folder`` if the request wants that. Returns the
        outcome with the paths of its artifacts."""
        if outcome.killed_from_outside or not isinstance(request.action, FullCompile):
            return outcome
        key = key_of(request)
        files: dict[str, Path] = {}
        if request.action.keep and outcome.failed:
            with suppress(OSError):
                shutil.rmtree(self._artifacts / key, ignore_errors=True)
                files = artifacts.collect(folder, outcome.log, self._artifacts / key)
        bounded = outcome
        if len(outcome.log) > _MOST_LOG:
            # Offsets into a truncated log would be wrong.
            bounded = replace(outcome, log=outcome.log[-_MOST_LOG:], log_stages=())
        row = (
            key,
            dumps(bounded),
            json.dumps({path: _digest(Path(path)) for path in dependencies}),
            json.dumps({name: path.name for name, path in files.items()}),
            int(request.action.observe),
            time.time(),
        )
        self._try(lambda db: db.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?)", row))
        self._prune()
        return replace(outcome, artifacts=files)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _prune(self) -> None:
        """Forget the least recently used failures, artifacts first."""
        old = self._try(
            lambda db: db.execute(
                "SELECT key FROM outcomes WHERE artifacts != '{}' ORDER BY used DESC LIMIT -1 OFFSET ?", (_MOST_KEPT,)
            ).fetchall()
        )
        keys = [(str(key),) for (key,) in old or ()]
        for (key,) in keys:
            shutil.rmtree(self._artifacts / key, ignore_errors=True)
        self._try(lambda db: db.executemany("DELETE FROM outcomes WHERE key = ?", keys))

    def _try(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        try:
            if self._connection is None:
                self._connection = self._open()
            with self._connection:
                return action(self._connection)
        except (sqlite3.Error, OSError):
            return None

    def _open(self) -> sqlite3.Connection:
        self.folder.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.folder / f"outcomes-{_SCHEMA}.sqlite", timeout=_BUSY_S)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, outcome TEXT NOT NULL, "
            "dependencies TEXT NOT NULL, artifacts TEXT NOT NULL, observed INTEGER NOT NULL, used REAL NOT NULL)"
        )
        return connection


def dumps(outcome: Outcome) -> str:
    """The outcome as JSON text, without its artifacts, whose location the reader knows."""
    return json.dumps(encode(replace(outcome, artifacts={}), exact=True))


def loads(text: str, artifacts: Mapping[str, Path]) -> Outcome:
    """The outcome of :func:`dumps`. Raises ValueError or InputError for any other text."""
    return replace(decode(Outcome, json.loads(text), "outcome", exact=True), artifacts=artifacts)


def key_of(request: Request) -> str:
    """Hash of everything that decides an outcome."""
    parts = {
        "case": request.case.identity(),
        # Siblings are imported from the kernel's folder, and messages name its path.
        "path": str(request.case.path.resolve()),
        "toolchain": request.toolchain.identity,
        "variables": deciding_variables(),
        "tool": [__version__, _worker_digest()],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _answers(outcome: Outcome, limits: Limits, action: FullCompile, files: dict[str, Path], observed: bool) -> bool:
    if outcome.status is Status.TIMEOUT and limits.timeout_s > (outcome.limit_s or 0):
        return False
    if outcome.status is Status.OUT_OF_MEMORY and limits.memory_bytes > (outcome.limit_bytes or 0):
        return False
    if not outcome.failed:
        return action.entry is None  # what was compiled is not kept with the outcome
    if action.observe and not observed:
        return False
    return not action.keep or (bool(files) and all(path.exists() for path in files.values()))


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


@cache
def _worker_digest() -> str:
    """The worker decides what is recorded; an edit to it makes old outcomes unfit."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "worker").glob("*.py")):
        digest.update(path.read_bytes())
    digest.update((Path(__file__).parent / "judge.py").read_bytes())
    return digest.hexdigest()
