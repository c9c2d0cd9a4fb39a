"""Outcomes remembered across runs: a content-addressed SQLite file, with the artifacts of failures beside it.

The key is everything that decides an outcome: the kernel's source and configuration, the target, the toolchain's
identity and interpreter, the variables that steer the compiler, and triage's own code. What the kernel's module read
as it was imported, its own files and installed packages, is recorded with the outcome and looked at again before it is
reused (``reads.py``).

A time-out or a memory kill holds only for the limit it met, so it is reused for limits no larger than that. What
triage could not tell, what was killed from outside, and a module that cannot be imported are never stored; what was
seen under a limit of the environment's own (``ulimit``) is stored apart.
"""

import hashlib
import json
import os
import re
import secrets
import sqlite3
import stat
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from triage._version import __version__
from triage.filesystem.cache import cache_folder, cache_root, own_folder
from triage.filesystem.files import remove_tree
from triage.harness import artifacts
from triage.harness.database import Database
from triage.harness.environment import deciding_variables
from triage.harness.limits import GIB, Limits, holds_for, parse_size
from triage.harness.linker import find_lld
from triage.harness.reads import ModuleReads, holds
from triage.harness.request import FullCompile, Request
from triage.harness.ulimits import ulimits
from triage.model.document import decode, encode
from triage.model.errors import InputError
from triage.model.outcome import Outcome

_SCHEMA = 3
FILE = f"outcomes-{_SCHEMA}.sqlite"
_IN_USE = re.compile(re.escape(FILE) + "(-.*)?")
"""The file and what SQLite puts beside it."""
_ARTIFACTS = re.compile("[0-9a-f]{32}(-[0-9a-f]{8})?")
_MOST_KEPT = 400
"""Failures whose artifacts are files; a failing attention kernel's are about 2 MB."""
_MOST_LOG = 1 << 20
LIMIT = "TRITON_TRIAGE_CACHE_LIMIT"
"""The variable that sets how much outcomes and artifacts may take."""
_LIMIT_BYTES = 2 * GIB
_AFTER_CLEANING = 0.9
"""Part of the limit that is left full, so that not every new outcome removes old ones."""
_BETWEEN_LOOKS = 0.01
"""Part of the limit that this process may add before it adds up what is there, which takes 10 ms for 100,000 rows."""
_UNOWNED_S = 86400.0
"""Artifacts of no row: a process may just be writing them, or show those of a row that another has replaced."""
_LAYOUT = """
CREATE TABLE IF NOT EXISTS outcomes (
    key TEXT PRIMARY KEY, used REAL NOT NULL, bytes INTEGER NOT NULL, observed INTEGER NOT NULL,
    artifacts TEXT NOT NULL, digest TEXT NOT NULL, dependencies TEXT NOT NULL, outcome TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS dependencies (digest TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS by_use ON outcomes (used, bytes);
"""
_COLUMNS = "observed, artifacts, digest, dependencies, outcome"
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError, RecursionError, InputError)


@dataclass(frozen=True, slots=True)
class _Row:
    """A remembered outcome. ``is_current``: what the kernel's module read as it was imported is still the same."""

    outcome: Outcome
    is_current: bool
    observed: bool


class Store:
    """One SQLite file and one folder of artifacts. Every fault of the disk counts as "not remembered": it makes triage
    slower, and does not make it fail; ``note`` gets one line about it. Raises InputError for a limit that is no size.
    """

    def __init__(self, folder: Path | None = None, note: Callable[[str], None] = lambda line: None) -> None:
        self.folder = folder or cache_root() / "outcomes"
        self._artifacts = self.folder / "artifacts"
        self._limit = parse_size(os.environ.get(LIMIT) or str(_LIMIT_BYTES), LIMIT)
        self._added: float = self._limit  # so that the first put looks
        make = (lambda: own_folder(folder)) if folder else (lambda: cache_folder("outcomes"))
        self._database = Database(make, FILE, _LAYOUT, f"SELECT {_COLUMNS} FROM outcomes LIMIT 0", self.folder, note)

    def get(self, request: Request) -> Outcome | None:
        """The remembered outcome, if it answers this request."""
        if not isinstance(request.action, FullCompile) or not request.action.use_cache:
            return None
        key = key_of(request)
        values = self._database.run(
            # As bytes: text that is not UTF-8 is a matter of its row alone.
            lambda db: db.execute(
                "SELECT observed, CAST(artifacts AS BLOB), outcomes.digest, CAST(text AS BLOB), CAST(outcome AS BLOB) "
                "FROM outcomes LEFT JOIN dependencies ON dependencies.digest = outcomes.dependencies WHERE key = ?",
                (key,),
            ).fetchone()
        )
        if values is None:
            return None
        try:
            row = self._row(key, *values)
        except _MALFORMED:
            self._forget([key])
            return None
        if not row.is_current or not _answers(row, request.limits, request.action):
            return None
        self._database.run(lambda db: db.execute("UPDATE outcomes SET used = ? WHERE key = ?", (time.time(), key)))
        return row.outcome

    def put(self, request: Request, outcome: Outcome, folder: Path | None, reads: ModuleReads | None) -> Outcome:
        """Remember an outcome, and copy a failure's artifacts out of ``folder`` if the request wants that. Returns the
        outcome with the paths of its artifacts.

        Not remembered is what was killed from outside, a module that could not be imported (the user's next step is to
        install what it lacks, or to change the environment), and what was compiled from files that have changed since,
        or that are not known."""
        if outcome.killed_from_outside or not outcome.imported or not isinstance(request.action, FullCompile):
            return outcome
        key = key_of(request)
        files = self._collect(key, outcome, folder) if request.action.keep and outcome.failed else {}
        bounded = outcome
        if len(outcome.log) > _MOST_LOG:
            # Offsets into a truncated log would be wrong.
            bounded = replace(outcome, log=outcome.log[-_MOST_LOG:], log_stages=())
        result = replace(outcome, artifacts=files)
        if self._database.is_lost or reads is None or not reads.is_unchanged:
            return result
        names = json.dumps({name: str(path.relative_to(self._artifacts)) for name, path in files.items()})
        dependencies, text = reads.stored(), dumps(bounded)
        digest = _row_digest(key, names, dependencies, text)
        size = len(text) + sum(map(_size, set(files.values())))
        # All outcomes of a module share what it read: 400 kB with torch.
        shared = (_row_digest(dependencies), dependencies)
        row = (key, time.time(), size, int(request.action.observe), names, digest, shared[0], text)

        def insert(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO dependencies VALUES (?, ?)", shared)
            db.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

        self._database.run(insert)
        self._prune(size, has_files=bool(files))
        return result

    def unused(self, seconds: float) -> tuple[int, int]:
        """How many outcomes have not been used for so long, and how many bytes they and their artifacts take."""
        query = "SELECT count(*), total(bytes) FROM outcomes WHERE used <= ?"
        ((number, size),) = self._rows(query, time.time() - seconds) or [(0, 0)]
        return int(number), int(size)

    def forget_unused(self, seconds: float) -> None:
        """Forget them."""
        rows = self._rows("SELECT key FROM outcomes WHERE used <= ?", time.time() - seconds)
        self._forget([key for (key,) in rows])

    def unowned(self, seconds: float) -> list[Path]:
        """What earlier versions and killed processes left, and has not changed for so long."""
        rows = self._rows("SELECT artifacts FROM outcomes WHERE artifacts != '{}'")
        if self._database.is_lost:
            return []
        with suppress(OSError, *_MALFORMED):
            owned = {Path(file).parts[0] for (names,) in rows for file in json.loads(names).values()}
            databases = [path for path in self.folder.glob("outcomes-*.sqlite*") if not _IN_USE.fullmatch(path.name)]
            folders = [path for path in self._artifacts.glob("*") if _ARTIFACTS.fullmatch(path.name)]
            folders = [path for path in folders if path.name not in owned]
            latest = time.time() - seconds
            return [path for path in (*databases, *folders) if path.lstat().st_mtime <= latest]
        return []

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._database.close()

    def _row(self, key: str, observed: int, names: bytes, digest: str, dependencies: bytes, outcome: bytes) -> _Row:
        """Raises one of ``_MALFORMED``."""
        if digest != _row_digest(key, *(part.decode() for part in (names, dependencies, outcome))):
            raise ValueError("not what was written")
        files = {name: self._artifacts / file for name, file in json.loads(names).items()}
        return _Row(loads(outcome.decode(), files), holds(json.loads(dependencies)), bool(observed))

    def _collect(self, key: str, outcome: Outcome, folder: Path | None) -> dict[str, Path]:
        """Copy a failure's artifacts to a new folder: another process may show those of an earlier one. None without a
        cache."""
        name = f"{key}-{secrets.token_hex(4)}"
        if self._database.run(lambda db: True):
            try:
                return artifacts.collect(folder, outcome.log, self._artifacts / name)
            except OSError as error:
                remove_tree(self._artifacts / name)
                self._database.give_up(error)
        return {}

    def _prune(self, added: int, has_files: bool) -> None:
        """Forget the least recently used outcomes where there are too many."""
        keys: set[str] = set()
        if has_files:
            excess = self._rows(
                "SELECT key FROM outcomes WHERE artifacts != '{}' ORDER BY used DESC LIMIT -1 OFFSET ?", _MOST_KEPT
            )
            keys |= {key for (key,) in excess}
        self._added += added
        if self._added > self._limit * _BETWEEN_LOOKS:
            self._added = 0
            for path in self.unowned(_UNOWNED_S):
                remove_tree(path)
            total = self._bytes()
            if total > self._limit:
                for key, size in self._rows("SELECT key, bytes FROM outcomes ORDER BY used"):
                    if total <= self._limit * _AFTER_CLEANING:
                        break
                    keys.add(key)
                    total -= size
        if keys:
            self._forget(keys)

    def _bytes(self) -> int:
        """The size of the outcomes, their artifacts and dependencies; at most that, while it is within the limit."""
        ((outcomes, file),) = self._rows(
            "SELECT (SELECT total(bytes) FROM outcomes), "
            "(SELECT page_count FROM pragma_page_count) * (SELECT page_size FROM pragma_page_size)"
        ) or [(0, 0)]
        if outcomes + file <= self._limit:
            return int(outcomes + file)
        # SQLite reads all texts to measure them: a second for half a gigabyte.
        ((texts,),) = self._rows("SELECT total(length(text)) FROM dependencies") or [(0,)]
        return int(outcomes + texts)

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._database.run(lambda db: db.execute(query, values).fetchall()) or []

    def _forget(self, keys: Collection[str]) -> None:
        rows = [(key,) for key in keys]

        def delete(db: sqlite3.Connection) -> None:
            db.executemany("DELETE FROM outcomes WHERE key = ?", rows)
            db.execute("DELETE FROM dependencies WHERE digest NOT IN (SELECT dependencies FROM outcomes)")

        self._database.run(delete)
        for key in keys:
            for folder in self._artifacts.glob(f"{key}-*"):
                remove_tree(folder)


def dumps(outcome: Outcome) -> str:
    """The outcome as JSON text, without its artifacts, whose location the reader knows."""
    return json.dumps(encode(replace(outcome, artifacts={}), exact=True))


def loads(text: str, artifacts: Mapping[str, Path]) -> Outcome:
    """The outcome of :func:`dumps`. Raises ValueError or InputError for any other text."""
    return replace(decode(Outcome, json.loads(text), "outcome", exact=True), artifacts=artifacts)


def key_of(request: Request) -> str:
    """Hash of everything that decides an outcome."""
    variables = deciding_variables()
    parts = {
        "case": request.case.identity(),
        # Siblings are imported from the kernel's folder, and messages name its path.
        "path": str(request.case.location),
        "sliced": request.case.is_sliced,
        # The interpreter's path as well: two environments may have the same Triton and different other packages.
        "toolchain": [request.toolchain.identity, str(request.toolchain.python)],
        "variables": variables,
        "programs": {name: _files_named(value) for name, value in variables.items()},
        "linker": _linker(request),
        "ulimits": ulimits(request.limits),
        "tool": [__version__, own_digest()],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]


def _files_named(value: str) -> list[Any]:
    """Size and time of each file that the value of a variable names: an assembler, a linker, a library."""
    facts = []
    for name in value.split(os.pathsep):
        with suppress(OSError, ValueError):
            if stat.S_ISREG((file := Path(name).stat()).st_mode):
                facts.append((file.st_size, file.st_mtime_ns))
    return facts


def _linker(request: Request) -> list[Any]:
    """The ``ld.lld`` that links for AMD on releases without one of their own."""
    if request.case.target.backend != "hip" or (path := find_lld()) is None:
        return []
    return [str(path), *_files_named(str(path))]


def _answers(row: _Row, limits: Limits, action: FullCompile) -> bool:
    outcome = row.outcome
    if not holds_for(outcome, limits):
        return False
    if not outcome.failed:
        return action.entry is None  # what was compiled is not kept with the outcome
    if action.observe and not row.observed:
        return False
    return not action.keep or (bool(outcome.artifacts) and all(path.exists() for path in outcome.artifacts.values()))


def _row_digest(*texts: str) -> str:
    """Of all that a row says: after a power failure SQLite may hold a page of another row."""
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


@cache
def own_digest() -> str:
    """Of triage's own code that decides what is recorded; an edit to it makes old outcomes unfit."""
    digest = hashlib.sha256()
    package = Path(__file__).parents[1]
    for folder in ("harness", "ir", "legality", "logs", "model", "performance"):
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
