"""The ledger of a sweep: one row for each result, written as it comes, keyed by its content.

Rows are written in transactions of SQLite with its write-ahead log: a kill at any moment loses no row that was written.
Rows are never changed; the same result twice is one row. Undecided cells are not stored.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.harness.limits import Limits
from triage.model.diagnosis import Kind
from triage.model.errors import EnvironmentFault, InputError
from triage.sweeps.observation import CellObservation, CellState, SweepFailure
from triage.sweeps.purpose import CellPurpose

FILE = "ledger.sqlite"
_BUSY_S = 30.0
"""How long a row waits for other processes that write to the same file."""
_LAYOUT = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT NOT NULL, toolchain TEXT NOT NULL, configuration TEXT NOT NULL, observation TEXT NOT NULL,
    limit_s REAL NOT NULL, limit_bytes INTEGER NOT NULL, PRIMARY KEY (key, toolchain)
);
CREATE TABLE IF NOT EXISTS purposes (
    key TEXT NOT NULL, toolchain TEXT NOT NULL, purpose TEXT NOT NULL, PRIMARY KEY (key, toolchain)
);
CREATE TABLE IF NOT EXISTS failures (signature TEXT PRIMARY KEY, key TEXT NOT NULL, failure TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS sweep (name TEXT PRIMARY KEY, text TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """``toolchain``: the identity of what compiled it. ``limits``: those that it was compiled under. ``purpose``: why
    it was compiled, where a map states that."""

    key: str
    toolchain: str
    configuration: Mapping[str, Any]
    observation: CellObservation
    limits: Limits
    purpose: CellPurpose | None = None

    def holds(self, limits: Limits) -> bool:
        """Whether the result counts under ``limits``: a time-out says nothing of more time."""
        match self.observation.kind:
            case Kind.TIMEOUT:
                return limits.timeout_s <= self.limits.timeout_s
            case Kind.OUT_OF_MEMORY:
                return limits.memory_bytes <= self.limits.memory_bytes
        return True


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A failure as the result with the least ``key`` shows it, so that the order of results does not matter."""

    key: str
    failure: SweepFailure


class Ledger:
    """One file; without ``path`` in memory. ``copied``: the file that it is a copy of, which errors name. Raises
    InputError for a file that is not a ledger, EnvironmentFault where the disk refuses it."""

    def __init__(self, path: Path | None = None, copied: Path | None = None) -> None:
        self._name = str(copied or path or "the ledger")
        self._keys: dict[str, str] = {}
        if path is not None and path.is_symlink():
            raise InputError(f"{path}: is a link, and results are written only into the folder itself; remove it")
        with self._faults():
            self._connection = sqlite3.connect(path or ":memory:", timeout=_BUSY_S, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            # In this mode rows survive a kill, and the file a power failure.
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_LAYOUT)
            self._keys = dict(self._connection.execute("SELECT signature, key FROM failures"))

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, row: LedgerRow) -> None:
        """Write a result, unless the cell is undecided."""
        if row.observation.state is CellState.UNTOLD:
            return
        texts = (_text(row.configuration), _text(_compact(row.observation)))
        values = (row.key, row.toolchain, *texts, row.limits.timeout_s, row.limits.memory_bytes)
        with self._faults():
            # A row that is written again keeps its position: the order says what was predicted when.
            self._connection.execute(
                "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (key, toolchain) DO UPDATE "
                "SET observation = excluded.observation, limit_s = excluded.limit_s, "
                "limit_bytes = excluded.limit_bytes",
                values,
            )
            if row.purpose is not None:
                purpose = (row.key, row.toolchain, _text(row.purpose.to_json()))
                self._connection.execute("INSERT OR IGNORE INTO purposes VALUES (?, ?, ?)", purpose)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write additions in the body as one transaction: rolled back where the body fails, committed where it is
        interrupted."""
        with self._faults():
            self._connection.execute("BEGIN")
        try:
            yield
        except Exception:
            if self._connection.in_transaction:  # A full disk has ended it.
                self._connection.execute("ROLLBACK")
            raise
        finally:
            if self._connection.in_transaction:
                with self._faults():
                    self._connection.execute("COMMIT")

    def shows(self, signature: str, key: str) -> bool:
        """Whether :meth:`add_failure` would write a failure of this result."""
        known = self._keys.get(signature)
        return known is None or key < known

    def add_failure(self, known: KnownFailure) -> None:
        """Write a failure, unless it is known from a result with a lesser key."""
        signature = known.failure.signature
        if not self.shows(signature, known.key):
            return
        self._keys[signature] = known.key
        values = (signature, known.key, _text(known.failure.to_json()))
        with self._faults():
            self._connection.execute(
                "INSERT INTO failures VALUES (?, ?, ?) ON CONFLICT (signature) DO UPDATE "
                "SET key = excluded.key, failure = excluded.failure WHERE excluded.key < key",
                values,
            )

    def rows(self) -> Iterator[LedgerRow]:
        """All results, in the order in which they were written."""
        with self._faults(), closing(self._connection.cursor()) as cursor:
            for key, toolchain, configuration, observation, limit_s, limit_bytes, text in cursor.execute(
                "SELECT key, toolchain, configuration, observation, limit_s, limit_bytes, purpose "
                "FROM results LEFT JOIN purposes USING (key, toolchain) ORDER BY results.rowid"
            ):
                shown = CellObservation.from_json(json.loads(observation), self._name)
                purpose = CellPurpose.from_json(json.loads(text), self._name) if text else None
                limits = Limits(limit_s, limit_bytes)
                yield LedgerRow(key, toolchain, json.loads(configuration), shown, limits, purpose)

    def failures(self) -> dict[str, KnownFailure]:
        """The failures by signature."""
        with self._faults():
            rows = self._connection.execute("SELECT signature, key, failure FROM failures").fetchall()
            return {
                signature: KnownFailure(key, SweepFailure.from_json(json.loads(failure), self._name))
                for signature, key, failure in rows
            }

    def keep(self, name: str, document: Any) -> None:
        """Write a document about the whole sweep."""
        with self._faults():
            self._connection.execute("INSERT OR REPLACE INTO sweep VALUES (?, ?)", (name, _text(document)))

    def document(self, name: str) -> Any:
        """A document about the whole sweep by name; None where there is none."""
        with self._faults():
            row = self._connection.execute("SELECT text FROM sweep WHERE name = ?", (name,)).fetchone()
            return None if row is None else json.loads(row[0])

    def take(self, others: Iterable[Ledger]) -> None:
        """Add the results and failures of other ledgers."""
        for other in others:
            with self.together():
                for row in other.rows():
                    self.add(row)
                for known in other.failures().values():
                    self.add_failure(known)

    def _faults(self) -> _Faults:
        return _Faults(self._name)


class _Faults:
    """Turns faults of SQLite into errors that name the file."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        match error:
            case json.JSONDecodeError() | sqlite3.DatabaseError() if not isinstance(error, sqlite3.OperationalError):
                raise InputError(
                    f"{self._name}: not a ledger that can be read ({error}); name another folder"
                ) from None
            case sqlite3.Error():
                raise EnvironmentFault(f"{self._name}: cannot be used: {error}") from None


def _text(document: Any) -> str:
    return json.dumps(document, separators=(",", ":"))


def _compact(observation: CellObservation) -> dict[str, Any]:
    """The document of an observation without its empty fields."""
    return {name: value for name, value in observation.to_json().items() if value is not None}
