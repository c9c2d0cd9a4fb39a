"""The service's loop: compiles the captured cases of a program's processes and answers how they ended.

It ends some seconds after the last of its connections, of which every process of the program holds one.
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
from triage.capture.service.cases import stable, warm_up
from triage.capture.service.start import Settings
from triage.harness.engine import Engine
from triage.harness.limits import Limits, default_memory_bytes
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model import case as cases
from triage.model.errors import TriageError
from triage.scratch import hold, remove_empty

_STAY_S = 10.0
_MOST_BYTES = 1 << 20


@dataclass(slots=True, eq=False)
class _Connection:
    sock: socket.socket
    buffer: bytearray = field(default_factory=bytearray)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, answer: dict[str, Any]) -> None:
        """Send an answer; the program may be gone."""
        with suppress(OSError), self.lock:
            self.sock.sendall((json.dumps(answer) + "\n").encode())


@dataclass(frozen=True, slots=True)
class _Question:
    """A program's question, whose number its answer repeats."""

    connection: _Connection
    number: int
    folder: str


class GuardService:
    """Listens at ``path`` once created; ``first`` is the connection of the process that started it. Raises OSError."""

    def __init__(self, path: Path, python: str, settings: Settings, first: socket.socket) -> None:
        self._path, self._python, self._settings = path, python, settings
        # The program that made the folder may end before this process does.
        hold(path.parent)
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(128)
        self._limits = Limits(settings.timeout_s, settings.memory_bytes or default_memory_bytes())
        self._toolchains = Toolchains()
        self._toolchain: Toolchain | None = None
        self._first = first
        self._connections: list[_Connection] = []
        self._queue: list[Request] = []
        self._threads: list[threading.Thread] = []
        self._alone_since = time.monotonic()
        self._entries = Path(tempfile.mkdtemp(prefix="entries-", dir=path.parent))
        self._numbers = 0

    def serve(self) -> None:
        """Serve until the last connection has been closed for some seconds."""
        store = Store() if self._settings.cache else None
        with Engine(self._settings.jobs, store, self._toolchains.installed) as engine:
            self._engine = engine
            engine.attend(self._listener, self._accept)
            self._attend(self._first)
            for attempt in engine.run(self._stream()):
                self._answer(attempt)
        for thread in self._threads:
            thread.join()
        shutil.rmtree(self._entries, ignore_errors=True)
        remove_empty(self._path.parent)  # unless another service still uses it

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
        """Remove the socket, under the lock against a second service; false if a program has connected by then."""
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
        if not select.select([self._listener], [], [], 0)[0]:
            return True
        self._accept()
        return False

    def _accept(self) -> None:
        self._attend(self._listener.accept()[0])

    def _attend(self, sock: socket.socket) -> None:
        connection = _Connection(sock)
        self._connections.append(connection)
        self._engine.attend(sock, lambda: self._receive(connection))

    def _receive(self, connection: _Connection) -> None:
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
            self._enqueue(connection, json.loads(line))

    def _enqueue(self, connection: _Connection, message: dict[str, Any]) -> None:
        question = _Question(connection, int(message["number"]), str(message["folder"]))
        try:
            case = cases.load(Path(question.folder))
            if message["op"] == "nearest":
                self._look_for_nearest(question)
                return
            self._numbers += 1
            entry = self._entries / str(self._numbers)
            action = FullCompile(observe=True, keep=True, use_cache=self._settings.cache, entry=entry)
            request = Request(stable(case), self._resolved(), self._limits, action, tag=question)
        except TriageError as error:
            connection.send({"number": question.number, "status": answers.UNDECIDED, "text": str(error)})
            return
        self._queue.append(request)

    def _resolved(self) -> Toolchain:
        if self._toolchain is None:
            self._toolchain = self._toolchains.resolve(None, self._python)
        return self._toolchain

    def _answer(self, attempt: Attempt) -> None:
        question = attempt.request.tag
        if isinstance(question, _Question):  # else it is the warm-up
            answer = answers.answer(attempt, tuple(map(Path, self._settings.knowledge)))
            question.connection.send({"number": question.number, **answer})

    def _look_for_nearest(self, question: _Question) -> None:
        """Search in a thread, with an engine of its own, so that other compiles continue."""

        def look() -> None:
            text = answers.nearest(Path(question.folder), self._python, self._limits, self._settings)
            question.connection.send({"number": question.number, "status": answers.RAISED, "text": text})

        thread = threading.Thread(target=look)
        thread.start()
        self._threads.append(thread)

    def _warm_up(self) -> None:
        """Have a worker ready that has compiled once for this machine's GPU, the likely target of programs."""
        with suppress(TriageError, OSError):
            case = warm_up(self._entries)
            if case is not None:
                self._queue.append(Request(case, self._resolved(), self._limits, FullCompile(use_cache=False)))
