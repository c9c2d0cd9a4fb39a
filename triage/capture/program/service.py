"""The other end of the guard: a process that compiles in isolation, asked over a socket.

It is started on the first need, by an exec and never a bare fork, and is nobody's child. One serves all processes of
a program that have the same interpreter and the same variables for the compiler; it ends when they have.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from typing import Any, Dict, List, Optional

from . import deciding

VARIABLE = "TRITON_TRIAGE_GUARD_SERVICE"
"""JSON: ``folder`` for sockets, and the ``command`` that starts a service."""
_PLACES = ("TRITON_CACHE_DIR", "TRITON_DUMP_DIR", "TRITON_HOME", "TRITON_OVERRIDE_DIR", "TRITON_PRINT_AUTOTUNING")
"""Say where things are, or what is printed: workers of a pool may differ in them."""
_START_S = 60.0
_POLL_S = 0.005


class Gone(Exception):
    """There is no service, and none can be started."""


class Service:
    """What a process knows of its service."""

    def __init__(self, text: str) -> None:
        self.told = text
        told = json.loads(text)
        self._folder, self._command = str(told["folder"]), [str(part) for part in told["command"]]
        self._present: Dict[int, socket.socket] = {}

    def hello(self) -> None:
        """Have a service started, and do not wait for that: while a program imports what it needs there is time."""
        try:
            threading.Thread(target=self._greet, args=(self._path(),), daemon=True).start()
        except RuntimeError:
            pass  # no more threads, or the interpreter is about to end

    def _greet(self, path: str) -> None:
        try:
            if not self._answers(path):
                self._start(path)
        except OSError:
            pass  # whoever asks it something finds that out

    def ask(self, messages: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """The answers to some messages, all of which are looked into at the same time. Raises Gone."""
        try:
            return self._ask(messages)
        except (OSError, ValueError):
            # It died, or was killed. Once more, with another.
            try:
                return self._ask(messages)
            except (OSError, ValueError) as error:
                raise Gone("the guard's service: %s" % error) from None

    def _ask(self, messages: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        connection = self._reach()
        with connection, connection.makefile("rb") as answers:
            connection.sendall("".join(json.dumps(one) + "\n" for one in messages).encode("utf-8"))
            found: Dict[int, Dict[str, Any]] = {}
            while len(found) < len(messages):
                answer = json.loads(answers.readline() or b"gone")
                found[int(answer["number"])] = answer
        return [found[number] for number in range(len(messages))]

    def _reach(self) -> socket.socket:
        path, until = self._path(), time.monotonic() + _START_S
        while True:
            connection = self._connect(path)
            if connection is not None:
                self._stay(path)
                return connection
            self._start(path)
            if time.monotonic() > until:
                raise OSError("not there after %d s" % _START_S)
            time.sleep(_POLL_S)

    def _stay(self, path: str) -> None:
        """Hold one connection until this process ends: so long the service stays."""
        if os.getpid() not in self._present:
            connection = self._connect(path)
            if connection is not None:
                self._present[os.getpid()] = connection

    def _connect(self, path: str) -> Optional[socket.socket]:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            return None
        return connection

    def _start(self, path: str) -> None:
        """Start it, unless somebody else is doing so: the lock is held until it listens, or has failed; and while one
        before it leaves."""
        os.makedirs(self._folder, 0o700, exist_ok=True)
        lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        theirs: List[int] = [lock]
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return
            # Who left has taken the file with him: the lock of a file that is gone keeps nobody away.
            if not os.fstat(lock).st_nlink or self._answers(path):
                return
            variables = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_TRIAGE_CAPT")}
            log = os.open(path + ".log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            theirs.append(log)
            # The first of its connections, there before it listens: it does not outlast a program that never asks.
            ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            self._present[os.getpid()] = ours
            theirs.append(its.detach())
            # It makes itself a process of its own at once, so there is nothing to wait for, and no zombie later.
            subprocess.run(
                [*self._command, path, sys.executable, str(lock), str(theirs[-1])],
                env={**variables, "TRITON_TRIAGE_GUARD": ""},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock, theirs[-1]),
                check=False,
            )
        finally:
            for one in theirs:
                os.close(one)

    def _answers(self, path: str) -> bool:
        connection = self._connect(path)
        if connection is not None:
            connection.close()
        return connection is not None

    def _path(self) -> str:
        decide = [one for one in deciding.variables().items() if one[0] not in _PLACES]
        named = [sys.executable, decide]
        digest = hashlib.sha256(json.dumps(named).encode("utf-8", "replace")).hexdigest()
        return os.path.join(self._folder, digest[:16])
