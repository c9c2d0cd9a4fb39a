"""How a guarded program starts its service, and ends it: the settings, and the command."""

import fcntl
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from triage.capture.program import service
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
        "from triage.capture.service.main import main; main()"
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
