"""The service's side of a connection, and the signs of life that a waiting program gets over it."""

import json
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from triage.capture.program import service

_SEND_S = 1.0
"""A program that takes no answer for so long is stopped, or lost: it asks again, and the others need not wait."""


class Connection:
    """A socket that several threads write to. ``buffer``: a line received in part."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.buffer = bytearray()
        self._lock = threading.Lock()
        sock.settimeout(_SEND_S)

    def send(self, answer: dict[str, Any]) -> None:
        """Send an answer; the program may be gone."""
        self.write((json.dumps(answer) + "\n").encode())

    def write(self, data: bytes) -> None:
        """Send whole lines, or hang up."""
        with self._lock:
            try:
                self.sock.sendall(data)
            except OSError:
                with suppress(OSError):
                    self.sock.shutdown(socket.SHUT_RDWR)

    def sign(self) -> None:
        """Send an empty line, unless that had to wait."""
        if self._lock.acquire(blocking=False):
            try:
                with suppress(OSError):
                    self.sock.send(b"\n", socket.MSG_DONTWAIT)
            finally:
                self._lock.release()


class SignsOfLife:
    """A thread that signals to the waiting programs, each second, that this process lives."""

    def __init__(self) -> None:
        self._connections: set[Connection] = set()
        threading.Thread(target=self._run, daemon=True).start()

    def give(self, connection: Connection) -> None:
        """Send signs to this connection from now on."""
        self._connections.add(connection)

    def end(self, connection: Connection) -> None:
        """Send none to it any more; safe to call twice."""
        self._connections.discard(connection)

    def _run(self) -> None:
        while True:
            for connection in tuple(self._connections):
                connection.sign()
            time.sleep(service.SIGN_S)
