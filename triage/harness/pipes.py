"""The pipes of a compiling process: divides its output and its events among its compiles."""

import fcntl
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from triage.harness.remote import read_available
from triage.harness.run import Run
from triage.harness.worker.recorder import MARK

_PIPE_BYTES = 1 << 20
_BUSY_BYTES = 32 << 10
"""Half of the smallest pipe: one that receives as much between two polls is read whenever it is readable."""
_MOST_EVENT_BYTES = 1 << 20
"""A line of the result pipe; the longest real one, an exception chain, is bounded by the worker at about 100 KB."""
_MOST_RESULT_BYTES = 64 << 20
"""Bytes of one compile in the result pipe. Garbage above that ends it."""


@dataclass(slots=True, eq=False)
class Pipe:
    """The reading end of a pipe, and the callback for its bytes. ``is_busy``: the last read returned much;
    ``is_watched``: a loop reads it whenever it is readable."""

    fd: int
    write: Callable[[bytes], None]
    is_open: bool = True
    is_busy: bool = False
    is_watched: bool = False

    def read(self) -> bool:
        """Read what is available; False at the end of the pipe."""
        size = 0

        def write(data: bytes) -> None:
            nonlocal size
            size += len(data)
            self.write(data)

        self.is_open = self.is_open and read_available(self.fd, write)
        self.is_busy = size >= _BUSY_BYTES
        return self.is_open


def open_pipe(write: Callable[[bytes], None]) -> tuple[Pipe, int]:
    """A pipe that does not block its reader, and its writing end. Large, so that a busy compiler seldom waits for
    triage."""
    read, writing = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(read, False)
    with suppress(OSError):  # Over the user's pipe quota: the default size works as well.
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return Pipe(read, write), writing


class Results:
    """Reads the events of the worker's recorder into the runs that a process makes one after the other. ``ended``: how
    many of them have ended well, with the process ready for the next; the text of these is in the pipe for the log."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self.ended = 0
        self._rest = b""
        self._received = 0

    def write(self, data: bytes) -> None:
        """Take the bytes that came through the pipe."""
        left = iter(self._runs[self.ended :])
        run = next(left, None)
        self._received += len(data)
        if run is not None and self._received > _MOST_RESULT_BYTES:
            run.flooded = True
            return
        *lines, rest = (self._rest + data).split(b"\n")
        # An endless line is garbage; what follows the next line break is read again.
        self._rest = rest if len(rest) <= _MOST_EVENT_BYTES else b""
        for line in filter(None, lines):
            if run is not None and run.take(line):
                self.ended, run = self.ended + 1, next(left, None)
                self._received = 0


class Logs:
    """Divides what a process prints among the runs that it makes: each begins with its first mark."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._logs = [run.log for run in runs]
        self._marks = [f"{MARK}{run.token} ".encode() for run in runs[1:]]
        self._at = 0
        self._rest = b""

    def write(self, data: bytes) -> None:
        """Take the bytes that came through the pipe."""
        data, self._rest = self._rest + data, b""
        for mark in self._marks[self._at :]:
            before, separator, after = data.partition(mark)
            if not separator:
                # The end of the data may cut a mark in two.
                begun = data.find(mark[:1], max(0, len(data) - len(mark) + 1))
                if begun >= 0:
                    data, self._rest = data[:begun], data[begun:]
                break
            self._logs[self._at].write(before)
            self._at, data = self._at + 1, separator + after
        self._logs[self._at].write(data)

    def close(self) -> None:
        """Write the rest at the end of the pipe."""
        self._logs[self._at].write(self._rest)
