"""The program of the service, in triage's own interpreter."""

import fcntl
import json
import os
import signal
import socket
import sys
from pathlib import Path

from triage.capture.program import service
from triage.capture.service.connection import Connection, SignsOfLife
from triage.capture.service.start import Settings


def main() -> None:
    """Become the service. Arguments: settings, the socket's path, the interpreter to compile with, the lock to hold
    until the service listens, and the first connection, over which the starting process learns how that goes.

    Forks at once into a session of its own, so that no program finds a child that it did not start, and no Ctrl-C in
    its terminal ends the service in the middle of a compile."""
    settings, path, python, lock, first = sys.argv[-5:]
    try:
        if os.fork():
            os._exit(0)
        os.setsid()
        # As the program may have set them: its workers have to see the end of their children, and write their files.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        # The shell that started it has these ignored.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
        os.umask(0o077)
        connection = Connection(socket.socket(fileno=int(first)))
        connection.write(f"{os.getpid()}\n".encode())
        signs = SignsOfLife()
        signs.give(connection)
        from triage.capture.service.server import GuardService

        fields = json.loads(settings)
        fields["knowledge"] = tuple(fields["knowledge"])
        guard = GuardService(Path(path), python, Settings(**fields), connection, signs)
        signs.end(connection)
        fcntl.flock(int(lock), fcntl.LOCK_UN)
        os.close(int(lock))
        connection.write(service.READY + b"\n")
        # Standard error was that connection.
        devnull = os.open(os.devnull, os.O_RDWR)
        os.dup2(devnull, 1)
        os.dup2(devnull, 2)
    except BaseException as error:
        print(f"{type(error).__name__}: {error}".replace("\n", " "), file=sys.stderr, flush=True)
        os._exit(1)
    guard.serve()
