"""A SQLite file that may be lost: what is malformed is moved aside, and where the disk refuses it, triage goes on
without. Every process of a user shares it, on several machines too.

SQLite's rollback journal, not its write-ahead log, which needs memory that all readers share and so works on no network
file system. A killed process's half of a transaction is rolled back by the next that opens the file.
"""

import sqlite3
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from triage.filesystem.files import remove_tree

_BUSY_S = 10.0
"""Longer than hundreds of waiting processes need for their transactions of a millisecond each."""

T = TypeVar("T")


class Database:
    """Opened on first use. ``layout`` creates the tables where they do not exist; ``probe`` reads all their columns.
    ``folder`` makes the folder, and raises OSError; ``name`` is what people call it. ``note`` gets one line when
    something is wrong with it."""

    def __init__(
        self,
        folder: Callable[[], Path],
        file: str,
        layout: str,
        probe: str,
        name: Path,
        note: Callable[[str], None],
    ) -> None:
        self._folder, self._file, self._name = folder, file, name
        self._layout, self._probe = layout, probe
        self._note = note
        self._connection: sqlite3.Connection | None = None
        self._path = Path(file)
        self._identity = 0
        self.is_lost = False
        """The disk has refused it; it is not tried again, as each attempt may take seconds."""

    def run(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        """The result of one transaction; None when the database cannot be used."""
        for _ in range(3):  # as it is, as another process has replaced it meanwhile, and as a new one
            if self.is_lost:
                return None
            try:
                if self._connection is None:
                    self._connection = self._open()
                with self._connection:
                    return action(self._connection)
            except (sqlite3.Error, OSError) as error:
                self._recover(error)
        return None

    def give_up(self, fault: sqlite3.Error | OSError) -> None:
        """Go on without the database."""
        self.is_lost = True
        where, reason = (fault.filename, fault.strerror) if isinstance(fault, OSError) else (None, None)
        self._note(
            f"{where or self._name}: outcomes are not remembered ({reason or fault}); "
            "set TRITON_TRIAGE_CACHE to another folder"
        )

    def close(self) -> None:
        """Close the file; the next transaction opens it again."""
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        path = self._path = self._folder() / self._file
        with suppress(FileNotFoundError):
            facts = path.lstat()
            self._identity = facts.st_ino
            if not stat.S_ISREG(facts.st_mode):
                raise sqlite3.DatabaseError("not a file")
        connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level="IMMEDIATE")
        try:
            # What a power failure leaves half written is noticed and moved aside; waiting for the disk with each
            # transaction would cost more than a compile.
            connection.execute("PRAGMA synchronous = OFF")
            # Only takes effect in a new file: space of removed rows is given back.
            connection.execute("PRAGMA auto_vacuum = FULL")
            connection.executescript(self._layout)
            connection.execute(self._probe)
            self._identity = path.lstat().st_ino
        except BaseException:
            connection.close()
            raise
        return connection

    def _recover(self, error: Exception) -> None:
        """Move a malformed file aside, unless another process has done so; give up after any other fault."""
        self.close()
        is_malformed = type(error) is sqlite3.DatabaseError or "no such " in str(error)
        aside = self._path.with_name(f"{self._file}.malformed")
        try:
            if not is_malformed:
                raise error
            if self._path.lstat().st_ino != self._identity:
                return
            remove_tree(aside)
            self._path.rename(aside)
            self._path.with_name(f"{self._file}-journal").unlink(missing_ok=True)
        except FileNotFoundError:
            return
        except (sqlite3.Error, OSError) as fault:
            self.give_up(fault)
        else:
            self._note(f"{self._path}: malformed; moved aside to {aside.name}, and outcomes are remembered anew")
