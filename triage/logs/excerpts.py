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
        #: The number of the next line, and how many lines from it on are part of an excerpt.
        self._position = 0
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
        offset = at
        if self._dump is not None:
            self._dump.add(data, at)
        for hit in hits:
            if hit + offset < at:
                continue  # in a line that was yielded
            begin = max(data.rfind(b"\n", at, hit + offset) + 1, at)
            while self._owed and at < begin:
                line, at = self._next(data, at)
                yield line
            if at < begin:
                self._position += data.count(b"\n", at, begin)
                self._clean.forget()
            hit_line, at = self._hit(data, begin)
            if hit_line is not None:
                yield hit_line
        while self._owed and at < len(data):
            line, at = self._next(data, at)
            yield line
        self._position += data.count(b"\n", at)

    def _next(self, data: bytes, at: int) -> tuple[Line, int]:
        """The line at an offset, which continues the current excerpt."""
        end = _end(data, at)
        text = self._clean(data[at : min(end, at + _MAX_BYTES)])
        line = Line(self._position, text, None, self._dump)
        self._owed -= 1
        self._position += 1
        return line, end + 1

    def _hit(self, data: bytes, at: int) -> tuple[Line | None, int]:
        """The line at an offset, if it is relevant."""
        end = _end(data, at)
        raw = data[at : min(end, at + _MAX_BYTES)]
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
        if self._owed:
            line = Line(self._position, text, None, self._dump)
            self._owed -= 1
        elif interest is Interest.SURROUNDED:
            line = Line(self._position, text, _above(data, at), self._dump)
        elif interest is Interest.ALONE:
            line = Line(self._position, text, (), self._dump)
        if interest is Interest.SURROUNDED:
            self._owed = LINES_AFTER
        if header or DUMP_HEADER in raw:
            self._dump = Dump()
            self._dump.add(data, at)
        self._position += 1
        return line, end + 1


def _end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return end if end >= 0 else len(data)
