"""The service: compiles the captured cases of a program's processes, and answers how they ended.

It exits some seconds after its last connection has closed; every process of the program holds one.
"""

from __future__ import annotations

import fcntl
import json
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.capture.service import answers
from triage.capture.service.places import place
from triage.capture.service.settings import Settings
from triage.harness.engine import Engine
from triage.harness.limits import Limits, default_memory_bytes
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model import case as cases
from triage.model.errors import TriageError

_STAY_S = 10.0
_MOST_BYTES = 1 << 20


@dataclass(slots=True, eq=False)
class _Connection:
    sock: socket.socket
    buffer: bytearray = field(default_factory=bytearray)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, answer: dict[str, Any]) -> None:
        """Send an answer; the program may be gone."""
        with suppress(OSError), self.lock:
            self.sock.sendall((json.dumps(answer) + "\n").encode())


@dataclass(frozen=True, slots=True)
class _Question:
    """The question that a request answers."""

    connection: _Connection
    number: int
    folder: str


class GuardService:
    """Listens at ``path`` once constructed. ``first``: the connection of its starter. Raises OSError."""

    def __init__(self, path: Path, python: str, settings: Settings, first: socket.socket) -> None:
        self._path, self._python, self._settings = path, python, settings
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(128)
        self._limits = Limits(settings.timeout_s, settings.memory_bytes or default_memory_bytes())
        self._toolchains = Toolchains()
        self._toolchain: Toolchain | None = None
        self._connections = [_Connection(first)]
        self._queue: list[Request] = []
        self._threads: list[threading.Thread] = []
        self._alone_since = time.monotonic()
        self._entries = Path(tempfile.mkdtemp(prefix="entries-", dir=path.parent))
        self._numbers = 0

    def serve(self) -> None:
        """Serve until no connection is left."""
        store = Store() if self._settings.cache else None
        with Engine(self._settings.jobs, store, self._toolchains.installed) as engine:
            self._engine = engine
            engine.attend(self._listener, self._accept)
            self._attend(self._connections[0])
            for attempt in engine.run(self._stream()):
                self._answer(attempt)
        for thread in self._threads:
            thread.join()
        shutil.rmtree(self._entries, ignore_errors=True)
        with suppress(OSError):
            self._path.parent.rmdir()  # unless another service still uses it

    def _stream(self) -> Iterator[Request | None]:
        self._warm_up()
        while self._queue or self._is_wanted() or not self._has_left():
            yield self._queue.pop(0) if self._queue else None

    def _is_wanted(self) -> bool:
        if self._connections or any(thread.is_alive() for thread in self._threads):
            self._alone_since = time.monotonic()
            return True
        return self._path.exists() and time.monotonic() - self._alone_since < _STAY_S

    def _has_left(self) -> bool:
        """Remove the socket, under the lock against another start; False if a program has connected meanwhile."""
        path, self._path = self._path, self._path.with_name(self._path.name + ".left")
        lock = path.with_name(path.name + ".lock")
        with suppress(OSError), lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            path.unlink(missing_ok=True)
            lock.unlink(missing_ok=True)
        log = path.with_name(path.name + ".log")
        with suppress(OSError):
            if not log.stat().st_size:
                log.unlink()
        waiting = bool(select.select([self._listener], [], [], 0)[0])
        if waiting:
            self._accept()
        return not waiting

    # ---- connections

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        self._connections.append(_Connection(sock))
        self._attend(self._connections[-1])

    def _attend(self, connection: _Connection) -> None:
        self._engine.attend(connection.sock, lambda: self._hear(connection))

    def _hear(self, connection: _Connection) -> None:
        try:
            data = connection.sock.recv(1 << 16)
        except OSError:
            data = b""
        connection.buffer += data
        if not data or len(connection.buffer) > _MOST_BYTES:
            self._engine.leave(connection.sock)
            self._connections.remove(connection)
            connection.sock.close()
            return
        *lines, rest = connection.buffer.split(b"\n")
        connection.buffer = bytearray(rest)
        for line in lines:
            self._take(connection, json.loads(line))

    def _take(self, connection: _Connection, message: dict[str, Any]) -> None:
        asked = _Question(connection, int(message["number"]), str(message["folder"]))
        try:
            case = cases.load(Path(asked.folder))
            if message["op"] == "nearest":
                self._look_for_nearest(asked)
                return
            self._numbers += 1
            entry = self._entries / str(self._numbers)
            action = FullCompile(observe=True, keep=True, use_cache=self._settings.cache, entry=entry)
            request = Request(place(case), self._resolved(), self._limits, action, tag=asked)
        except TriageError as error:
            connection.tell({"number": asked.number, "status": answers.UNDECIDED, "text": str(error)})
            return
        self._queue.append(request)

    def _resolved(self) -> Toolchain:
        if self._toolchain is None:
            self._toolchain = self._toolchains.resolve(None, self._python)
        return self._toolchain

    # ---- answers

    def _answer(self, attempt: Attempt) -> None:
        asked = attempt.request.tag
        if asked is None:
            return
        assert isinstance(asked, _Question)
        answer = answers.answer(attempt, tuple(Path(folder) for folder in self._settings.knowledge))
        asked.connection.tell({"number": asked.number, **answer})

    def _look_for_nearest(self, asked: _Question) -> None:
        """Search in a thread, with an engine of its own, so that other compiles continue."""

        def look() -> None:
            text = answers.nearest(Path(asked.folder), self._python, self._limits, self._settings)
            asked.connection.tell({"number": asked.number, "status": answers.RAISED, "text": text})

        thread = threading.Thread(target=look)
        thread.start()
        self._threads.append(thread)

    def _warm_up(self) -> None:
        """Prepare a worker for this machine's GPU, if any: programs compile for it."""
        from triage.capture.service.warm import warm_case

        with suppress(TriageError, OSError):
            case = warm_case(self._entries)
            if case is not None:
                self._queue.append(Request(case, self._resolved(), self._limits, FullCompile(use_cache=False)))
