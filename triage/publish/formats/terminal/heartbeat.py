"""Progress for output that cannot be redrawn, as the log of a job or a pipe: a line every some seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

_FIRST_S = 1.0
"""Commands that end sooner print nothing; with what starting takes, the first line comes within two seconds."""
_EVERY_S = 10.0
_LATER = 0.1
"""Part of the time until now: after some minutes, lines may come more rarely …"""
_RARELY_S = 60.0
"""… but every minute: what is silent for longer is taken to hang."""


class Heartbeat:
    """Writes what is being done now, and for how long, whether it changes or not. Use as a context manager."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._began = self._since = time.monotonic()
        self._line = self._written = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="progress", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def step(self, line: str) -> None:
        """``line`` is what is being done now."""
        if line != self._line:
            self._line, self._since = line, time.monotonic()

    def note(self, line: str) -> None:
        """The same, and written at once."""
        self.step(line)
        self._written = line
        self._write(line)

    def _beat(self) -> None:
        wait_s = _FIRST_S
        with suppress(OSError):  # Nobody reads it any more.
            while not self._ended.wait(wait_s):
                if line := self._line:
                    # Of what was written before, only how long it takes by now is new.
                    took = f" ({time.monotonic() - self._since:.0f} s)" if line == self._written else ""
                    self._written = line
                    self._write(f"{line}{took}")
                    wait_s = min(max(_EVERY_S, (time.monotonic() - self._began) * _LATER), _RARELY_S)
