"""Toolchains found or made one after the other in the background, while others are compiled with already.

A plain thread: it only starts installers and looks at files, and forks nothing of triage's. It is a daemon, so that an
interrupted triage does not wait for it; an installer that is left behind holds its lock until it has ended.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable

from triage.harness.toolchains import Toolchain
from triage.matrix.releases import Row
from triage.model.errors import TriageError

Resolve = Callable[[Row], Toolchain]
Arrived = tuple[Row, Toolchain | TriageError]


class Supply:
    """Resolves ``rows`` in their order. One that cannot be had arrives as its error."""

    def __init__(self, resolve: Resolve, rows: Iterable[Row]) -> None:
        self._rows = list(rows)
        self._resolve = resolve
        self._left = len(self._rows)
        self._arrived: queue.Queue[tuple[Row, Toolchain | Exception]] = queue.Queue()
        self._stop = threading.Event()
        threading.Thread(target=self._work, name="toolchains", daemon=True).start()

    def take(self, wait: bool) -> Arrived | None:
        """The next one that is there; None when all were taken, or when none is there yet and ``wait`` is false."""
        if self._left == 0:
            return None
        try:
            row, answer = self._arrived.get(block=wait)
        except queue.Empty:
            return None
        self._left -= 1
        if isinstance(answer, Exception) and not isinstance(answer, TriageError):
            raise answer
        return row, answer

    def stop(self) -> None:
        """Begin no further one."""
        self._stop.set()

    def _work(self) -> None:
        for row in self._rows:
            if self._stop.is_set():
                return
            try:
                self._arrived.put((row, self._resolve(row)))
            except Exception as error:
                # Any: whoever takes it has to hear of it, or would wait for ever.
                self._arrived.put((row, error))
