"""A line with its neighbours: all that a recogniser may look at.

The bound on the view keeps the whole pass linear and lets a log of any size stream through.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from triage.logs.dump import Dump

if TYPE_CHECKING:
    from triage.logs.recognisers.base import Recogniser

#: Enough for `Failure value returned from cantFail`, its text, and a diagnostic with its caret.
LINES_BEFORE = 12
#: Enough for a CompilationError's excerpt of the kernel, or a diagnostic with its notes.
LINES_AFTER = 80


@dataclass(frozen=True, slots=True)
class Line:
    """A cleaned line of an excerpt. ``before``: the lines above it where the excerpt begins with it, else None.

    ``readers`` are the recognisers that it may be for; None for a line that is only a neighbour of others.
    ``dump`` is the IR that was printed last. ``begins``: an independent part of the log begins with the line.
    """

    position: int
    text: str
    before: tuple[str, ...] | None
    readers: tuple[Recogniser, ...] | None
    dump: Dump | None
    begins: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """``line`` at ``position``; ``before`` ends, and ``after`` begins, with its neighbour.

    ``readers`` are the recognisers that the line may be for. ``dump`` is the IR that was printed last. ``begins``: an
    independent part of the log begins with the line.
    """

    position: int
    line: str
    before: Sequence[str]
    after: Sequence[str]
    readers: tuple[Recogniser, ...]
    dump: Dump | None = None
    begins: bool = False


def windows(lines: Iterable[Line]) -> Iterator[Window]:
    """Slide over the lines; neighbours have no window of their own. The views are live: read them before asking for the
    next window."""
    before: deque[str] = deque(maxlen=LINES_BEFORE)
    after: deque[str] = deque()
    waiting: deque[Line] = deque()

    for line in chain(lines, [None]):
        while waiting and (line is None or line.before is not None or len(waiting) > LINES_AFTER):
            first = waiting.popleft()
            after.popleft()
            if first.readers is not None:
                yield Window(first.position, first.text, before, after, first.readers, first.dump, first.begins)
            before.append(first.text)
        if line is None:
            return
        if line.before is not None:
            before.clear()
            before.extend(line.before)
        waiting.append(line)
        after.append(line.text)
