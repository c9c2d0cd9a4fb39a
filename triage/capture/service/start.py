"""How a guarded program starts its service: the settings, and ``main`` of this module in triage's own interpreter."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from triage import scratch

DEFAULT_TIMEOUT_S = 600.0
"""A compile that takes ten minutes is slow; the guard must not fail what only is slow."""


SOCKETS_BYTES = 90
"""Of the path of a folder for sockets: a socket's path may have 107, and its name is 16 digits (program/service.py)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a guarded compile may use. ``memory_bytes``: None for the machine's default. ``knowledge``: folders with
    entries beside those that ship with triage."""

    timeout_s: float = DEFAULT_TIMEOUT_S
    memory_bytes: int | None = None
    jobs: int | None = None
    cache: bool = True
    knowledge: tuple[str, ...] = ()


def variable(folder: Path, settings: Settings) -> str:
    """The value of ``program.service.VARIABLE``, by which guarded programs find their service. ``folder`` is for its
    sockets."""
    root = str(Path(__file__).resolve().parents[3])
    code = f"import sys; sys.path.insert(0, {root!r}); from triage.capture.service.start import main; main()"
    command = [sys.executable, "-c", code, json.dumps(asdict(settings))]
    return json.dumps({"folder": str(folder), "command": command})


@contextmanager
def shared_service(settings: Settings) -> Iterator[str]:
    """:func:`variable` with a temporary folder, which the last service in it removes, or this if there was none."""
    sockets = scratch.new("guard", SOCKETS_BYTES)
    try:
        yield variable(sockets.folder, settings)
    finally:
        sockets.leave()


def main() -> None:
    """Become the service. Arguments: settings, the socket's path, the interpreter to compile with, the lock to hold
    until the service listens, and the first connection.

    Forks at once into a session of its own, so that no program finds a child that it did not start, and no Ctrl-C in
    its terminal ends the service in the middle of a compile."""
    settings, path, python, lock, first = sys.argv[-5:]
    if os.fork():
        os._exit(0)
    os.setsid()
    from triage.capture.service.server import GuardService

    fields = json.loads(settings)
    fields["knowledge"] = tuple(fields["knowledge"])
    service = GuardService(Path(path), python, Settings(**fields), socket.socket(fileno=int(first)))
    os.close(int(lock))
    service.serve()
