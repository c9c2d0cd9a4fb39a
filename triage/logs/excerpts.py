"""The relevant lines of a log: those that may be part of a failure, with their neighbours.

All others are skipped at the speed of the sieve. The findings are the same as if every line were read: no recogniser
accepts a line without an anchor, and one with an anchor comes with all the lines before and after it that a recogniser
may look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto

from triage.ir import passes
from triage.logs.clean import MAX_LINE, Cleaner
from triage.logs.dump import Dump
from triage.logs.reading import Log, blocks
from triage.logs.sieve import Sieve
from triage.logs.window import LINES_AFTER, LINES_BEFORE, Line

#: Such lines are many: they are recognised by their beginning and not cleaned.
DUMP_HEADER = passes.HEADER.encode()
#: Up to so many bytes a text may be a quotation from a log.
_FEW = 8192
#: A character may have four bytes.
_MAX_BYTES = 4 * MAX_LINE


class Interest(Enum):
    """How a line is to be read."""

    NONE = auto()
    #: Context of failures; its neighbours do not matter.
    ALONE = auto()
    #: May be part of a failure: read with its neighbours.
    SURROUNDED = auto()


def _tail(data: bytes, end: int) -> bytes:
    """The last lines before ``end``, as many as a window shows."""
    begin = end
    for _ in range(LINES_BEFORE):
        if begin == 0:
            break
        begin = data.rfind(b"\n", 0, begin - 1) + 1
    tail = data[begin:end]
    if len(tail) > LINES_BEFORE * _MAX_BYTES:
        tail = b"\n".join(line[:_MAX_BYTES] for line in tail.split(b"\n"))
    return tail


def _above(data: bytes, begin: int) -> tuple[str, ...]:
    """The cleaned lines before the one that begins at ``begin``."""
    clean = Cleaner()
    return tuple(clean(line[:_MAX_BYTES]) for line in _tail(data, begin).split(b"\n")[:-1])


def _few(block: bytes) -> list[str]:
    """The block's lines that are not empty, cleaned, if it is small."""
    if len(block) > _FEW:
        return []
    clean = Cleaner()
    return [text for line in block.split(b"\n") if (text := clean(line)).strip()]


class Excerpts:
    """One pass over a log; see :meth:`lines`."""

    def __init__(self, sieve: Sieve, interest: Callable[[str], Interest]) -> None:
        self._sieve = sieve
        self._interest = interest
        self._clean = Cleaner()
        self._dump: Dump | None = None
        #: The next line: its number, its offset in the current data, and how many from it on are part of an excerpt.
        self._position = 0
        self._at = 0
        self._owed = 0
        #: All lines of a short log.
        self.whole: list[str] = []

    def lines(self, log: Log) -> Iterator[Line]:
        """The relevant lines, in order."""
        tail = b""
        for block in blocks(log):
            data = tail + block
            self.whole = _few(block) if not tail else []
            yield from self._of_block(data, len(tail), self._sieve(block))
            tail = _tail(data, len(data))

    def _of_block(self, data: bytes, at: int, hits: list[int]) -> Iterator[Line]:
        self._at = at
        if self._dump is not None:
            self._dump.add(data, at)
        for hit in (at + hit for hit in hits):
            if hit < self._at:
                continue  # in a line that was yielded
            begin = max(data.rfind(b"\n", self._at, hit) + 1, self._at)
            yield from self._continued(data, begin)
            if self._at < begin:
                self._position += data.count(b"\n", self._at, begin)
                self._at = begin
                self._clean.forget()
            if line := self._hit(data):
                yield line
        yield from self._continued(data, len(data))
        self._position += data.count(b"\n", self._at)

    def _raw(self, data: bytes) -> bytes:
        """The next line, uncleaned and cut; moves behind it."""
        start, end = self._at, data.find(b"\n", self._at)
        self._at = (end if end >= 0 else len(data)) + 1
        self._position += 1
        return data[start : min(self._at - 1, start + _MAX_BYTES)]

    def _continued(self, data: bytes, end: int) -> Iterator[Line]:
        """The lines up to an offset that continue the current excerpt."""
        while self._owed and self._at < end:
            self._owed -= 1
            position = self._position
            yield Line(position, self._clean(self._raw(data)), None, self._dump)

    def _hit(self, data: bytes) -> Line | None:
        """The next line, if it is relevant."""
        at, position = self._at, self._position
        raw = self._raw(data)
        header = raw.startswith(DUMP_HEADER)
        if header:
            self._clean.forget()
            text, interest = raw.decode("utf-8", "replace").rstrip("\r")[:MAX_LINE], Interest.ALONE
        else:
            text = self._clean(raw)
            interest = self._interest(text)
        if interest is Interest.NONE and self._clean.stripped_marker:
            # The first line of a block shows how far pytest indents it: the whole block is read.
            interest = Interest.SURROUNDED
        line: Line | None = None
        if self._owed or interest is not Interest.NONE:
            above = () if self._owed or interest is Interest.ALONE else _above(data, at)
            line = Line(position, text, None if self._owed else above, self._dump)
        self._owed = LINES_AFTER if interest is Interest.SURROUNDED else max(self._owed - 1, 0)
        if header or DUMP_HEADER in raw:
            self._dump = Dump()
            self._dump.add(data, at)
        return line
