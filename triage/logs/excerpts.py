"""The relevant lines of a log: those that may be part of a failure, with their neighbours.

All others are skipped at the speed of the sieve. The findings are the same as if every line were read: no recogniser
accepts a line without an anchor, and one with an anchor comes with all the lines before and after it that a recogniser
may look at.

A text may consist of such lines alone. Then not all of them are read: the number of lines has a limit that grows with
the size of the text. What is beyond it is skipped, but for lines in which the compiler may have stopped itself, and for
the last ones: of what a process prints the end says most about how it ended.
"""

from collections.abc import Callable, Iterator
from heapq import merge
from itertools import chain, pairwise
from typing import TypeAlias

from triage.ir import passes
from triage.logs.clean import MAX_LINE, Cleaner
from triage.logs.dump import Dump
from triage.logs.evidence import evidence_sieve
from triage.logs.reading import Log, blocks
from triage.logs.recognisers import Recogniser
from triage.logs.sieve import Sieve
from triage.logs.surroundings import ENDS
from triage.logs.user_frames import MOST_SHOWN, is_notebooks
from triage.logs.window import LINES_AFTER, LINES_BEFORE, Line
from triage.model.compilers import COMPILERS, Compiler

#: Such lines are many: they are recognised by their beginning and not cleaned.
DUMP_HEADER = passes.HEADER.encode()
#: Up to so many bytes a text may be a quotation from a log.
_FEW = 8192
#: A character may have four bytes.
_MAX_BYTES = 4 * MAX_LINE

#: Lines that are read of any text: no public issue has as many.
FIRST_LINES = 4_000
#: Beyond these, one line for so many bytes. A line takes 10 to 20 us to read, so a megabyte takes 0.1 s at most.
BYTES_A_LINE = 150
#: Lines that are read beyond both for a failure of the most specific kind.
URGENT_LINES = 1_000
#: Hits at the end of a text that are read in any case, with their neighbours, and the lines among which they are.
LAST_HITS = 50
LAST_LINES = 200

#: The recognisers that a line may be for: it is read with its neighbours. None of them: it is context of failures, and
#: its neighbours do not matter. None: the line is not relevant.
Readers: TypeAlias = "tuple[Recogniser, ...] | None"


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


def whole_lines(block: bytes) -> list[str]:
    """The block's lines that are not empty, cleaned."""
    clean = Cleaner()
    return [text for line in block.split(b"\n") if (text := clean(line)).strip()]


class Excerpts:
    """One pass over a log; see :meth:`lines`."""

    def __init__(self, sieve: Sieve, urgent: Sieve, readers: Callable[[str], Readers]) -> None:
        self._sieve = sieve
        self._urgent = urgent
        self._readers = readers
        self._clean = Cleaner()
        self._dump: Dump | None = None
        #: The next line: its number, its offset in the current data, and how many from it on are part of an excerpt.
        self._position = 0
        self._at = 0
        self._owed = 0
        #: How many more lines may be read, and beyond that where the compiler may have stopped itself.
        self._left, self._urgent_left = FIRST_LINES, URGENT_LINES
        #: All lines of a short log.
        self.whole: list[str] = []
        #: The compilers of which a line is one that only a text about that compiler has.
        self.evidence: set[Compiler] = set()
        #: The first and the last bytes; of a short log both are all of it.
        self.ends = (b"", b"")

    def spend(self, lines: int) -> None:
        """Count work as lines that were read."""
        self._left -= lines

    def lines(self, log: Log) -> Iterator[Line]:
        """The relevant lines, in order."""
        tail = b""
        size = 0
        for block, following in pairwise(chain(blocks(log), (None,))):
            assert block is not None
            data = tail + block
            size += len(block)
            # The last line is a block of its own if no line end follows it.
            self.whole = [*self.whole, *whole_lines(block)] if size <= _FEW else []
            self._see_evidence(block)
            first, last = self.ends
            self.ends = (first or block[:ENDS], (last + block)[-ENDS:])
            self._left += len(block) // BYTES_A_LINE
            yield from self._of_block(data, len(tail), self._sieve(block), is_last=following is None)
            tail = _tail(data, len(data))

    def _see_evidence(self, block: bytes) -> None:
        """Note of which compilers a block is; of each only until it is known."""
        for compiler in COMPILERS.values():
            if compiler not in self.evidence and evidence_sieve(compiler)(block):
                self.evidence.add(compiler)

    def _of_block(self, data: bytes, at: int, hits: list[int], is_last: bool) -> Iterator[Line]:
        self._at = at
        if self._dump is not None:
            self._dump.add(data, at)
        for hit in hits:
            if at + hit < self._at:
                continue  # in a line that was yielded
            if self._left <= 0:
                yield from self._beyond_limit(data, at, hits[-LAST_HITS:] if is_last else [])
                break
            yield from self._excerpt(data, at + hit)
        yield from self._continued(data, len(data))
        self._position += data.count(b"\n", self._at)

    def _beyond_limit(self, data: bytes, at: int, last: list[int]) -> Iterator[Line]:
        """The lines of a block that are read although no more may be."""
        urgent = self._urgent(data[at:])
        last = [hit for hit in last if data.count(b"\n", at + hit) <= LAST_LINES]
        for hit, is_urgent in merge(((hit, True) for hit in urgent), ((hit, False) for hit in last)):
            if at + hit < self._at or (is_urgent and self._urgent_left <= 0):
                continue
            for line in self._excerpt(data, at + hit):
                self._urgent_left -= is_urgent
                yield line

    def _excerpt(self, data: bytes, hit: int) -> Iterator[Line]:
        """The line with a hit, and those before it that continue the excerpt above."""
        begin = max(data.rfind(b"\n", self._at, hit) + 1, self._at)
        yield from self._continued(data, begin)
        if self._at < begin:
            self._position += data.count(b"\n", self._at, begin)
            self._at = begin
            self._clean.forget()
        if line := self._hit(data):
            yield line

    def _raw(self, data: bytes) -> bytes:
        """The next line, uncleaned and cut; moves behind it."""
        start, end = self._at, data.find(b"\n", self._at)
        self._at = (end if end >= 0 else len(data)) + 1
        self._position += 1
        self._left -= 1
        return data[start : min(self._at - 1, start + _MAX_BYTES)]

    def _continued(self, data: bytes, end: int) -> Iterator[Line]:
        """The lines up to an offset that continue the current excerpt."""
        while self._owed and self._at < end:
            self._owed -= 1
            position = self._position
            yield Line(position, self._clean(self._raw(data)), None, None, self._dump)

    def _hit(self, data: bytes) -> Line | None:
        """The next line, if it is relevant."""
        at, position = self._at, self._position
        raw = self._raw(data)
        header = raw.startswith(DUMP_HEADER)
        if header:
            self._clean.forget()
            text = raw.decode("utf-8", "replace").rstrip("\r")[:MAX_LINE]
        else:
            text = self._clean(raw)
        readers = () if header else self._readers(text)
        # The first line of a block shows how far pytest indents it: the whole block is read.
        surrounded = bool(readers) or (readers is None and self._clean.stripped_marker)
        line: Line | None = None
        if self._owed or surrounded or readers is not None:
            above = None if self._owed else _above(data, at) if surrounded else ()
            self._left -= LINES_BEFORE if above else 0
            begins = not header and self._clean.is_summary
            line = Line(position, text, above, readers, self._dump, begins)
        shown = MOST_SHOWN if not surrounded and readers is not None and is_notebooks(text) else 0
        self._owed = LINES_AFTER if surrounded else max(self._owed - 1, shown)
        if header or DUMP_HEADER in raw:
            self._dump = Dump()
            self._dump.add(data, at)
        return line
