"""How a guarded program starts its service: the settings, and ``main`` of this module in triage's own interpreter."""

import fcntl
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from triage.capture.program import service
from triage.capture.service.connection import Connection, SignsOfLife
from triage.filesystem import scratch
from triage.filesystem.files import remove_tree

DEFAULT_TIMEOUT_S = 600.0
"""A compile that takes ten minutes is slow; the guard must not fail what only is slow."""


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
    # Where this process found triage and what that needs, behind the standard library. The program's working folder and
    # PYTHONPATH may hold modules of the same names, and concern only the compiles.
    paths = [str(Path(entry).absolute()) for entry in sys.path if entry]
    code = (
        f"import sys; sys.path.insert(0, {root!r}); sys.path += [path for path in {paths!r} if path not in sys.path]; "
        "from triage.capture.service.start import main; main()"
    )
    command = [sys.executable, "-I", "-c", code, json.dumps(asdict(settings))]
    return json.dumps({"folder": str(folder), "command": command})


@contextmanager
def shared_service(settings: Settings) -> Iterator[str]:
    """:func:`variable` with a temporary folder, which the last service in it removes, or this if there is none."""
    sockets = scratch.new("guard")
    try:
        yield variable(sockets.folder, settings)
    finally:
        end_services(sockets.folder)
        sockets.leave()


def end_services(folder: Path) -> None:
    """Let each service in ``folder`` end with the last process of the program, and remove what killed ones left. One
    that was stopped is continued, so that it can."""
    for path in folder.glob("*.lock"):
        with suppress(OSError), path.open("rb") as lock:
            # One that starts or ends holds the lock, and removes its files itself.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            peer = service.listener(str(folder), path.stem)
            path.with_suffix("").unlink(missing_ok=True)
            if peer is None:
                for old in (path, *folder.glob(f"{path.stem}-*")):
                    remove_tree(old)
            elif peer:
                service.resume(peer)


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
