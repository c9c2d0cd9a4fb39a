"""The service's loop: compiles the captured cases of a program's processes and answers how they ended.

It ends some seconds after the last of its connections, of which every process of the program holds one.
"""

import fcntl
import json
import select
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.capture.service import answers
from triage.capture.service.cases import stable, warm_up
from triage.capture.service.connection import Connection, SignsOfLife
from triage.capture.service.start import Settings
from triage.filesystem.files import remove_tree
from triage.filesystem.scratch import hold, remove_empty
from triage.frontends import documents
from triage.harness.engine import Engine
from triage.harness.limits import Limits, default_memory_bytes
from triage.harness.request import Attempt, FullCompile, Request
from triage.harness.store import Store
from triage.harness.toolchains import Toolchain, Toolchains
from triage.model.case import Case
from triage.model.errors import TriageError

_STAY_S = 5.0
"""How long to wait for the next process of a program: a script may start several, and an import of torch takes 3 s."""
_BACKLOG = 1024
"""Processes of a pool that connect at once; Linux allows 4096."""
_MOST_BYTES = 1 << 20
_MOST_FAILURES = 3
"""Consecutive failures of the engine after which a new process takes over."""


@dataclass(frozen=True, slots=True)
class _Question:
    """A program's question; the answer repeats its number."""

    connection: Connection
    number: int
    folder: str


class GuardService:
    """Listens at ``path`` once created; ``first`` is the connection of the process that started it. Raises OSError."""

    def __init__(
        self, path: Path, python: str, settings: Settings, first: Connection, signs_of_life: SignsOfLife
    ) -> None:
        self._path, self._python, self._settings = path, python, settings
        # The program that made the folder may end before this process does.
        folder = hold(path.parent)
        for old in (path, *path.parent.glob(f"{path.name}-*")):  # a killed service's
            remove_tree(old)
        self._entries = Path(tempfile.mkdtemp(prefix=f"{path.name}-", dir=path.parent))
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(f"/proc/self/fd/{folder}/{path.name}")
        self._listener.listen(_BACKLOG)
        self._listener.setblocking(False)
        self._identity = path.stat().st_ino
        self._limits = Limits(settings.timeout_s, settings.memory_bytes or default_memory_bytes())
        self._toolchains = Toolchains()
        self._resolved: dict[str, Toolchain] = {}
        self._signs_of_life = signs_of_life
        self._connections = [first]
        self._open: list[_Question] = []
        self._queue: list[Request] = []
        self._threads: list[threading.Thread] = []
        self._alone_since = time.monotonic()
        self._numbers = 0
        self._notices: dict[str, None] = {}
        self._is_warm = self._is_deaf = self._is_withdrawn = self._has_unwanted = False

    def serve(self) -> None:
        """Serve until the last connection has been closed for some seconds."""
        failures, is_served = 0, False
        while not is_served and failures < _MOST_FAILURES:
            try:
                is_served = self._serve_with_engine()
                failures = 0
            except Exception as error:  # no descriptors, no disk, a fault of triage's own
                failures += 1
                self._give_up(error)
        for thread in self._threads:
            thread.join()
        self._withdraw()
        remove_tree(self._entries)
        remove_empty(self._path.parent)  # unless another service still uses it

    def _serve_with_engine(self) -> bool:
        """Serve with a new engine; false where the programs that had asked are gone, and what was under way with
        them."""
        store = Store() if self._settings.cache else None
        with Engine(self._settings.jobs, store, self._toolchains.installed) as engine:
            self._engine = engine
            self._is_deaf = True
            for connection in self._connections:
                self._attend(connection)
            try:
                for attempt in engine.run(self._stream()):
                    self._answer(attempt)
            except _Deserted:
                return False
        return True

    def _stream(self) -> Iterator[Request | None]:
        self._warm_up()
        while self._queue or self._is_wanted() or not self._has_left():
            if self._is_deaf:
                self._is_deaf = False
                self._engine.attend(self._listener, self._accept)
            yield self._queue.pop(0) if self._queue else None

    def _is_wanted(self) -> bool:
        if self._connections or any(thread.is_alive() for thread in self._threads):
            self._alone_since = time.monotonic()
            return True
        return self._is_listed() and time.monotonic() - self._alone_since < _STAY_S

    def _is_listed(self) -> bool:
        """Whether the socket at the path is this service's: the end of a run removes it."""
        try:
            return self._path.stat().st_ino == self._identity
        except OSError:
            return False

    def _has_left(self) -> bool:
        """Whether no program can reach this service any more, nor has."""
        if not self._withdraw():
            return False
        if not select.select([self._listener], [], [], 0)[0]:
            return True
        self._accept()
        return False

    def _withdraw(self) -> bool:
        """Remove the socket, under the lock against a second service; false while a program starts one."""
        lock = self._path.with_name(f"{self._path.name}.lock")
        if self._is_withdrawn:
            return True
        with suppress(OSError):
            try:
                with lock.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if self._is_listed() or not self._path.exists():
                        self._path.unlink(missing_ok=True)
                        lock.unlink()
            except BlockingIOError:
                return False
        self._is_withdrawn = True
        return True

    def _accept(self) -> None:
        try:
            sock = self._listener.accept()[0]
        except BlockingIOError:  # it has gone
            return
        except OSError:  # no descriptor is free
            self._engine.leave(self._listener)
            self._is_deaf = True
            return
        connection = Connection(sock)
        self._connections.append(connection)
        self._attend(connection)

    def _attend(self, connection: Connection) -> None:
        self._engine.attend(connection.sock, lambda: self._receive(connection))

    def _receive(self, connection: Connection) -> None:
        try:
            data = connection.sock.recv(1 << 16)
        except OSError:
            data = b""
        connection.buffer += data
        *lines, connection.buffer = connection.buffer.split(b"\n")
        messages = [_message(connection, bytes(line)) for line in lines if line]
        for question, operation in filter(None, messages):
            self._enqueue(question, operation)
        if not data or None in messages or len(connection.buffer) > _MOST_BYTES:
            self._hang_up(connection)

    def _hang_up(self, connection: Connection) -> None:
        """Raises _Deserted if no connection is left and compiles are under way whose results are not needed any
        more."""
        self._engine.leave(connection.sock)
        self._signs_of_life.end(connection)
        self._connections.remove(connection)
        connection.sock.close()
        wanted = [question for question in self._open if question.connection is not connection]
        self._has_unwanted = self._has_unwanted or len(wanted) < len(self._open)
        self._open = wanted
        self._queue = [request for request in self._queue if _asked_by(request) is not connection]
        if self._has_unwanted and not self._connections:
            self._has_unwanted = False
            raise _Deserted

    def _enqueue(self, question: _Question, operation: str) -> None:
        self._open.append(question)
        self._signs_of_life.give(question.connection)
        try:
            case = documents.load(Path(question.folder))
            if operation == "nearest":
                self._look_for_nearest(question)
                return
            self._numbers += 1
            entry = self._entries / str(self._numbers)
            action = FullCompile(observe=True, keep=True, use_cache=self._settings.cache, entry=entry)
            case, notice = stable(case, self._entries)
            self._notices.update(dict.fromkeys(filter(None, (notice, case.target.caveat))))
            self._queue.append(Request(case, self._toolchain(case), self._limits, action, tag=question))
        except Exception as error:
            self._reply(question, _undecided(error))

    def _toolchain(self, case: Case) -> Toolchain:
        """The program's own compiler for a case. Raises TriageError."""
        name = case.compiler.name
        if name not in self._resolved:
            self._resolved[name] = self._toolchains.resolve(None, self._python, case.compiler)
        return self._resolved[name]

    def _answer(self, attempt: Attempt) -> None:
        question = _asked(attempt.request)
        if question is None:  # the warm-up
            return
        try:
            answer = answers.answer(attempt, tuple(map(Path, self._settings.knowledge)))
        except Exception as error:
            answer = _undecided(error)
        self._reply(question, answer)

    def _reply(self, question: _Question, answer: dict[str, Any]) -> None:
        with suppress(ValueError):  # the program is gone
            self._open.remove(question)
        if all(other.connection is not question.connection for other in self._open):
            self._signs_of_life.end(question.connection)
        question.connection.send({"number": question.number, **answer, "notices": list(self._notices)})

    def _give_up(self, error: Exception) -> None:
        """Answer all that was asked: nothing of it could be tried."""
        self._queue.clear()
        for question in tuple(self._open):
            self._reply(question, _undecided(error))

    def _look_for_nearest(self, question: _Question) -> None:
        """Search in a thread, with an engine of its own, so that other compiles continue."""

        def look() -> None:
            try:
                text = answers.nearest(Path(question.folder), self._python, self._limits, self._settings)
                answer = {"status": answers.RAISED, "text": text}
            except Exception as error:
                answer = _undecided(error)
            self._reply(question, answer)

        thread = threading.Thread(target=look)
        thread.start()
        self._threads.append(thread)

    def _warm_up(self) -> None:
        """Have a worker ready that has compiled once for this machine's GPU, the likely target of programs."""
        if self._is_warm:
            return
        self._is_warm = True
        with suppress(TriageError, OSError):
            case = warm_up(self._entries)
            if case is not None:
                self._queue.append(Request(case, self._toolchain(case), self._limits, FullCompile(use_cache=False)))


class _Deserted(Exception):
    """The last connection was closed, and compiles are under way whose results are not needed any more."""


def _message(connection: Connection, line: bytes) -> tuple[_Question, str] | None:
    """A question, and what is to be done; None for a line that no guard sends."""
    try:
        message = json.loads(line)
        number, folder, operation = message["number"], message["folder"], message["op"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if type(number) is not int or not isinstance(folder, str) or operation not in ("compile", "nearest"):
        return None
    return _Question(connection, number, folder), operation


def _asked(request: Request) -> _Question | None:
    return request.tag if isinstance(request.tag, _Question) else None


def _asked_by(request: Request) -> Connection | None:
    question = _asked(request)
    return question.connection if question else None


def _undecided(error: Exception) -> dict[str, Any]:
    text = str(error) if isinstance(error, TriageError) else f"{type(error).__name__}: {error}"
    return {"status": answers.UNDECIDED, "text": text}
