"""Resolves toolchains one after the other in a thread, while others are in use.

The thread only starts installers and reads files, and forks no worker. It is a daemon, so that triage ends without it
where an installation cannot be stopped in time.
"""

import queue
import threading
from collections.abc import Callable, Iterable

from triage.harness.toolchains import Toolchain
from triage.matrix.releases import Row
from triage.model.errors import TriageError

_ABANDON_S = 1.5
"""To kill an installer and to remove what it has installed takes half a second."""

Resolve = Callable[[Row], Toolchain]
Arrived = tuple[Row, Toolchain | TriageError]


class Supply:
    """Resolves ``rows`` in their order. One that cannot be resolved arrives as its error."""

    def __init__(self, resolve: Resolve, rows: Iterable[Row]) -> None:
        self._rows = list(rows)
        self._resolve = resolve
        self._left = len(self._rows)
        self._arrived: queue.Queue[tuple[Row, Toolchain | Exception]] = queue.Queue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="toolchains", daemon=True)
        self._thread.start()

    def take(self, wait: bool) -> Arrived | None:
        """The next resolved row; None when all were taken, or when none is ready and ``wait`` is false."""
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
        """Start no further row, and wait until the one under way has been given up: its deadline has passed."""
        self._stop.set()
        self._thread.join(_ABANDON_S)

    def _work(self) -> None:
        for row in self._rows:
            if self._stop.is_set():
                return
            try:
                self._arrived.put((row, self._resolve(row)))
            except Exception as error:
                # Any exception: the taker would wait forever otherwise.
                self._arrived.put((row, error))
