"""The flight recorder of one compile: events on the result pipe, stage marks in the log.

Every event is one line that begins with the attempt's token and is preceded by a line break, so garbage that the
kernel wrote into the same pipe cannot hide or forge one.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any, Optional

MARK = "\x1e"
"""ASCII record separator: begins a stage mark in the log, ``\\x1eTOKEN stage``."""


class Recorder:
    """Writes events as they happen; after a kill at any instruction the last event is known."""

    def __init__(self, fd: int, token: str, until: Optional[str] = None) -> None:
        self._fd = fd
        self._token = token
        self.until = until
        self._stage: Optional[str] = None
        self._began = 0.0
        self.ptxas_log = ""

    def emit(self, event: str, **fields: Any) -> None:
        """Write one event. A closed pipe is not an error: triage is gone or has given up on this attempt."""
        try:
            os.write(self._fd, ("\n%s %s\n" % (self._token, json.dumps({"ev": event, **fields}))).encode())
        except OSError:
            return

    def begin(self, stage: str) -> None:
        """A stage starts; the stage before it, if still open, has ended."""
        self.end()
        self._stage, self._began = stage, time.perf_counter()
        self.emit("begin", stage=stage)
        try:
            os.write(2, ("%s%s %s\n" % (MARK, self._token, stage)).encode())
        except OSError:
            return

    def end(self) -> None:
        """The open stage finished."""
        if self._stage is not None:
            self.emit("end", stage=self._stage, seconds=time.perf_counter() - self._began)
            self._stage = None


current: Optional[Recorder] = None
"""The recorder of the compile under way in this process; None in a server."""
