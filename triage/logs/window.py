"""A line with what stands around it: all that a recogniser may look at.

Bounding the view is what keeps the whole pass linear and lets a log of any size stream through.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

#: Enough for `Failure value returned from cantFail`, its text, and a diagnostic with its caret.
LINES_BEFORE = 12
#: Enough for a CompilationError's excerpt of the kernel, or a diagnostic with its notes.
LINES_AFTER = 80


@dataclass(frozen=True, slots=True)
class Window:
    """``line`` at ``position``; ``before`` ends, and ``after`` begins, with its neighbour."""

    position: int
    line: str
    before: Sequence[str]
    after: Sequence[str]


def windows(lines: Iterable[str]) -> Iterator[Window]:
    """Slide over the lines. The views are live: read them before asking for the next window."""
    source = iter(lines)
    before: deque[str] = deque(maxlen=LINES_BEFORE)
    after: deque[str] = deque(islice(source, LINES_AFTER + 1))
    position = 0
    while after:
        line = after.popleft()
        yield Window(position, line, before, after)
        before.append(line)
        after.extend(islice(source, 1))
        position += 1
