"""The flight recorder of one compile: events on the result pipe, stage marks in the log.

Every event is one line that begins with the attempt's token and is preceded by a line break, so garbage that the
kernel wrote into the same pipe cannot hide or forge one.
"""

from os import fstat, getpid, set_blocking, write
from time import perf_counter
from typing import Any, List, Optional, Tuple

from . import wire

MARK = "\x1e"
"""ASCII record separator: begins a stage mark in the log, ``\\x1eTOKEN stage``."""


class Unreported(Exception):
    """A verdict could not be written: triage cannot tell how this compile ended."""


class Recorder:
    """Writes events as they happen; after a kill at any instruction the last event is known. ``until``: where to stop.
    ``stages``: those that have ended, and how long they took. ``tag``: arguments of the last pipeline's run after its
    module: from 3.6 on a name for its reproducer."""

    def __init__(self, fd: int, token: str, until: Optional[str] = None) -> None:
        self._fd = fd
        self._token = token
        self._owner = getpid()
        self._pipe = _identity(fd)
        self.until = until
        self._stage: Optional[str] = None
        self._began = 0.0
        self.stages: List[Tuple[str, float]] = []
        self.ptxas_log = ""
        self.tag: Any = ()

    def emit(self, event: str, **fields: Any) -> bool:
        """Write one event; False where that is not possible. A closed pipe is not an error of the compile: triage is
        gone or has given up on this attempt, or the kernel's module has closed it."""
        if getpid() != self._owner:
            return False  # A fork that user code made: only the process that was asked answers.
        try:
            if _identity(self._fd) != self._pipe:
                return False  # User code has opened something else under this number.
            set_blocking(self._fd, True)
            _write(self._fd, "\n%s %s\n" % (self._token, wire.dumps({"ev": event, **fields})))
        except OSError:
            return False
        return True

    def conclude(self, ev: str, **fields: Any) -> None:
        """Write the event that is the verdict. Raises Unreported."""
        if not self.emit(ev, **fields):
            raise Unreported("the pipe for the result is closed, or is another file")

    def begin(self, stage: str) -> None:
        """A stage starts; the stage before it, if still open, has ended."""
        self.end()
        self._stage, self._began = stage, perf_counter()
        self.emit("begin", stage=stage)
        try:
            _write(2, "%s%s %s\n" % (MARK, self._token, stage))
        except OSError:
            return

    def end(self) -> None:
        """The open stage finished."""
        if self._stage is not None:
            seconds = perf_counter() - self._began
            self.stages.append((self._stage, seconds))
            self.emit("end", stage=self._stage, seconds=seconds)
            self._stage = None


def _identity(fd: int) -> Any:
    status = fstat(fd)
    return (status.st_dev, status.st_ino)


def _write(fd: int, text: str) -> None:
    data = text.encode()
    while data:
        data = data[write(fd, data) :]


current: Optional[Recorder] = None
"""The recorder of the compile under way in this process; None in a server."""
