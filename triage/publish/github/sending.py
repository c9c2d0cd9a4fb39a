"""One request in a thread of its own, so that the waiting thread can stop waiting and cut it off.

A client's time-outs are those of one read: looking up a name, a proxy's answer and a response's headers may take for
ever where a byte arrives now and then. Cutting shuts the connection down, so that a request that is not yet complete
never becomes so, and a thread that connects later sends nothing."""

import os
import queue
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from triage.model.errors import EnvironmentFault
from triage.publish.github.faults import ApiResponse


class Sending(threading.Thread):
    """Runs ``send``. ``connected``: a connection was ready, so that the request may have arrived."""

    def __init__(self, send: Callable[[], ApiResponse]) -> None:
        # A daemon: the end of the program does not wait for the look-up of a name, which cannot be interrupted.
        super().__init__(daemon=True)
        self.connected = False
        self._send = send
        self._result: queue.SimpleQueue[ApiResponse | BaseException] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._sockets: list[Any] = []
        self._is_cut = False

    def run(self) -> None:
        try:
            self._result.put(self._send())
        except BaseException as error:
            self._result.put(error)

    def wait(self, seconds: float) -> ApiResponse | None:
        """The response, or None where there is none after that time. Raises what ``send`` raises."""
        try:
            self.start()
        except RuntimeError:
            # Without one there would be no bound.
            raise EnvironmentFault("cannot post: no further thread may be started; raise `ulimit -u`") from None
        try:
            result = self._result.get(timeout=max(seconds, 0))
        except BaseException as error:  # or the user interrupts
            self._cut()
            if isinstance(error, queue.Empty):
                return None
            raise
        if isinstance(result, BaseException):
            raise result
        return result

    def use(self, connection: HTTPConnection) -> None:
        """Called in the thread with a connection that is ready, before a request. Raises OSError after a cut."""
        with self._lock:
            if self._is_cut:
                connection.close()
                raise ConnectionAbortedError("cut off")
            self.connected = True
            self._sockets.append(connection.sock)

    def _cut(self) -> None:
        with self._lock:
            self._is_cut = True
            for connected in self._sockets:
                # Through a copy: TLS inside of TLS has no shutdown of its own.
                with suppress(OSError), socket.socket(fileno=os.dup(connected.fileno())) as copy:
                    copy.shutdown(socket.SHUT_RDWR)


def _tell(connection: HTTPConnection) -> None:
    thread = threading.current_thread()
    if isinstance(thread, Sending):
        thread.use(connection)


class _Cuttable(HTTPConnection):
    def connect(self) -> None:
        super().connect()
        _tell(self)

    def request(self, *arguments: Any, **named: Any) -> None:
        if not self.is_closed:  # the request before left it open
            _tell(self)
        super().request(*arguments, **named)


class _CuttableTls(_Cuttable, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Cuttable


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _CuttableTls


POOLS = {"http": _Pool, "https": _TlsPool}
"""Pools whose connections can be cut off, for ``PoolManager.pool_classes_by_scheme``."""
