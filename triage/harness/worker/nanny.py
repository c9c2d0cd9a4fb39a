"""The process between triage and everything that runs a compiler. It starts those processes, and when triage is gone,
for whatever reason, it kills all that is left below it and removes the run's folder.

It is a subreaper in a session of its own: it adopts every orphan, and the terminal's Ctrl-C does not reach it. It
imports nothing but this package's ``loop``, ``process`` and ``wire``.
"""

import fcntl
import os
import shutil
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Dict, List

from . import process
from .loop import ForkServer


def serve(sock: socket.socket, folder: Path) -> None:
    """Start processes on request until triage closes its end of ``sock``; then clean up."""
    process.limit(0)
    # Held until this process ends: the folder is in use, also when triage is gone (triage/filesystem/scratch.py).
    lock = os.open(str(folder), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with suppress(OSError):  # no locks on this file system
        fcntl.flock(lock, fcntl.LOCK_SH)

    def clean_up() -> None:
        _kill_all()
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            folder.parent.rmdir()  # the folder of all temporary folders, if this was the last

    def remove(message: Dict[str, Any], _: List[int]) -> None:
        for name in message["folders"]:
            if os.path.dirname(name) == str(folder):
                shutil.rmtree(name, ignore_errors=True)

    server = ForkServer(sock, {"start": _start, "remove": remove}, clean_up)
    server.send({"op": "ready"})
    server.run()


def _start(message: Dict[str, Any], fds: List[int]) -> None:
    """Become the program asked for. Descriptors: the log, then the one whose number ends its command line."""
    process.redirect(fds[0])
    process.limit(message["memory_bytes"])
    os.set_inheritable(fds[1], True)
    command = [*message["command"], str(fds[1])]
    os.execve(command[0], command, message["environment"])


def _kill_all() -> None:
    # The children of every killed child are adopted here, so continue until none is left.
    while True:
        pids = process.children()
        if not pids:
            return
        for pid in pids:
            process.kill_group(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        time.sleep(0.002)
