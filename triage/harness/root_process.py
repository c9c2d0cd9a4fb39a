"""The nanny, in triage's own process: starts it, and ends it with all that is below it (see ``worker/nanny.py``)."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from triage.filesystem import scratch
from triage.filesystem.scratch import Scratch
from triage.harness import processes
from triage.harness.remote import Level, Remote, ServerState
from triage.harness.run_clock import START_S
from triage.harness.worker import wire
from triage.model.errors import fault

WORKER = Path(__file__).parent / "worker"
_END_S = 30.0
"""How long the nanny may take to remove what is left of the runs, gigabytes at worst."""
_WATCH_S = 0.1


class Root(NamedTuple):
    """The nanny, and the folder of all runs, ``home``."""

    nanny: Remote
    process: subprocess.Popen[bytes]
    home: Scratch

    def end(self) -> None:
        """End it and everything below."""
        self.nanny.sock.close()
        process, until = self.process, time.monotonic() + _END_S
        while process.poll() is None and time.monotonic() < until:
            self.nanny.process.resume()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_WATCH_S)
        if process.poll() is None:
            process.kill()
            process.wait()
        self.nanny.close()
        if process.returncode != 0:
            # The nanny was killed and has not cleaned up.
            processes.kill_marked(self.home.folder)
        self.home.remove()


def start() -> Root | None:
    """Start the nanny; None when it ended as it started. Raises EnvironmentFault."""
    home = scratch.new("engine")
    ours, theirs = wire.pair()
    command = [sys.executable, "-I", "-S", str(WORKER), "nanny", str(theirs.fileno()), str(home.folder)]
    devnull = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=devnull,
            stdout=devnull,
            stderr=devnull,
            start_new_session=True,
            env={**os.environ, processes.MARK: str(home.folder)},
        )
    except OSError as error:
        home.remove()
        raise fault(error) from None
    theirs.close()
    ours.settimeout(START_S)
    try:
        wire.receive(ours)
    except (wire.Closed, wire.Malformed, OSError):
        ours.close()
        process.kill()
        process.wait()
        home.remove()
        return None
    ours.setblocking(False)
    nanny = Remote(Level.NANNY, ("nanny",), ours, None, "nanny", -1, state=ServerState.READY)
    nanny.process = processes.Process.child(process.pid, os.getpid())
    return Root(nanny, process, home)
