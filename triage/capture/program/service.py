"""The guard's service: a process that compiles in isolation, reached over a socket.

It is started on first use, by exec and never a bare fork, as nobody's child. One service serves all processes of a
program with the same interpreter and the same compiler variables; it ends when they have."""

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

VARIABLE = "TRITON_TRIAGE_GUARD_SERVICE"
"""JSON: ``folder`` for sockets, and the ``command`` that starts a service."""
_PLACES = ("TRITON_CACHE_DIR", "TRITON_DUMP_DIR", "TRITON_HOME", "TRITON_OVERRIDE_DIR", "TRITON_PRINT_AUTOTUNING")
"""Locations and output settings, in which workers of a pool may differ."""
_DECIDES = ("TRITON_", "MLIR_", "LLVM_", "DISABLE_", "PTXAS_", "USE_IR_LOC", "USE_TTGIR_LOC", "NVPTX_", "AMDGCN_")
_DECIDES_NOT = ("TRITON_TRIAGE_", "TRITON_CACHE_DIR", "TRITON_HOME")
"""Triage's own variables, and locations: tests with separate caches shall share a service."""
_START_S = 60.0
_POLL_S = 0.005


def compiler_variables() -> Dict[str, str]:
    """Environment variables of this process that change what a compile produces, sorted."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(_DECIDES) and not name.startswith(_DECIDES_NOT)
    }


class Gone(Exception):
    """No service is running, and none can be started."""


class Service:
    """A process's connection to its service."""

    def __init__(self, text: str) -> None:
        self.description = text
        settings = json.loads(text)
        self._folder, self._command = str(settings["folder"]), [str(part) for part in settings["command"]]
        self._present: Dict[int, socket.socket] = {}

    def hello(self) -> None:
        """Start a service in the background, while the program still imports what it needs."""
        path = self._path()

        def start() -> None:
            try:
                if not self._answers(path):
                    self._start(path)
            except OSError:
                pass  # the first request reports it

        try:
            threading.Thread(target=start, daemon=True).start()
        except RuntimeError:
            pass  # no more threads, or the interpreter is about to end

    def ask(self, messages: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """The answers to some messages, processed concurrently. Raises Gone."""
        try:
            return self._ask(messages)
        except (OSError, ValueError):
            # The service died or was killed: start another, once.
            try:
                return self._ask(messages)
            except (OSError, ValueError) as error:
                raise Gone("the guard's service: %s" % error) from None

    def _ask(self, messages: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        connection = self._reach()
        with connection, connection.makefile("rb") as answers:
            connection.sendall("".join(json.dumps(message) + "\n" for message in messages).encode("utf-8"))
            by_number: Dict[int, Dict[str, Any]] = {}
            while len(by_number) < len(messages):
                answer = json.loads(answers.readline() or b"gone")
                by_number[int(answer["number"])] = answer
        return [by_number[number] for number in range(len(messages))]

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
        """Hold one connection until this process ends: the service stays that long."""
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
        """Start the service unless another process is doing so. The lock is held until the service listens or has
        failed, and while an earlier one shuts down."""
        os.makedirs(self._folder, 0o700, exist_ok=True)
        lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        inherited: List[int] = [lock]
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return
            # A service that ended has removed the file, and the lock of a removed file excludes nobody.
            if not os.fstat(lock).st_nlink or self._answers(path):
                return
            variables = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_TRIAGE_CAPT")}
            log = os.open(path + ".log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            inherited.append(log)
            # Its first connection exists before it listens, so that it ends with a program that never asks.
            ours, service_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            self._present[os.getpid()] = ours
            inherited.append(service_end.detach())
            # It forks at once into a session of its own, so this returns soon and leaves no zombie.
            subprocess.run(
                [*self._command, path, sys.executable, str(lock), str(inherited[-1])],
                env={**variables, "TRITON_TRIAGE_GUARD": ""},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock, inherited[-1]),
                check=False,
            )
        finally:
            for descriptor in inherited:
                os.close(descriptor)

    def _answers(self, path: str) -> bool:
        connection = self._connect(path)
        if connection is not None:
            connection.close()
        return connection is not None

    def _path(self) -> str:
        variables = [item for item in compiler_variables().items() if item[0] not in _PLACES]
        identity = [sys.executable, variables]
        digest = hashlib.sha256(json.dumps(identity).encode("utf-8", "replace")).hexdigest()
        return os.path.join(self._folder, digest[:16])
