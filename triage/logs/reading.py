"""From a text, a pipe or a file of any size to blocks of whole lines: UTF-8, plain, bounded.

Only one block is in memory. Wrappings that are cheaper to remove from many lines at once are removed here: another
encoding, a terminal's control sequences, a JSON writer's escapes.
"""

import codecs
import io
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import BinaryIO, TypeAlias, cast

from triage.logs.copied import as_printed
from triage.logs.sieve import Sieve, sieve_for
from triage.logs.wrapped import unwrapped
from triage.model.visible import CONTROL

#: A text, its lines, or a stream of bytes (a file, standard input).
Log: TypeAlias = "str | Iterable[str] | BinaryIO"

#: Small enough that a block and its copies stay in the cache of one core.
BLOCK = 1 << 18

_CONTROL = re.compile(CONTROL.encode())
# Colours that lost their first character, as chats and browsers copy them; all of them are reset in the end.
_RESET = b"[0m"
_COLOUR = re.compile(rb"\[(?:[0-9]|[349][0-7]|10[0-7])(?:;\d{1,3}){0,4}m")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^u\n])"
)
# Half of a character that UTF-16 writes as two.
_PAIR = len(rb"\ud83e\uddca")
# The end of the text in a record of docker's and other writers' one object a line; the other fields follow.
_END_OF_TEXT = re.compile(rb'(?<!\\)\\n"[,}\]]')
_MOST_FIELDS = 4000
"""Bytes of the other fields behind the text."""
_FEWEST_ESCAPED = 4
"""Ends of lines in a line that is several; a string of a program's source has fewer."""
_ESCAPED_TRACEBACK = (b"\\nTraceback (most", b'\\n  File "', b'\\n  File \\"')
# A task's exception, printed by repr: `<Task … exception=ValueError('x')>`; of one of several lines that stands alone,
# `CompilationError('at 3:4:\ndef k')`. In `raise ValueError('…')` of a source it is not one that was raised.
_RAISED_REPR = re.compile(
    rb"""^(?P<before>[^\n]{0,400}?exception=|(?:[^\n]{0,400}?(?:\]|(?<!rror)(?<!tion):) )?(?=[^\n]*\\n))"""
    rb"""(?:[\w.]{1,200}\.)?(?P<name>[A-Z]\w{1,80}(?:Error|Exception|Construct|Failure))\((?P<quote>["'])"""
    rb"""(?P<text>(?:\\[^\n]|(?!(?P=quote))[^\\\n])*)(?P=quote)[^\n]*""",
    re.MULTILINE,
)
_REPRS = ("Error(", "Exception(", "Construct(", "Failure(")
_ESCAPED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"", b"f": b""}
# What editors, wikis and chats write for others that programs print.
_TYPOGRAPHIC = {
    b"\xc2\xa0": b" ", b"\xe2\x80\x98": b"'", b"\xe2\x80\x99": b"'", b"\xe2\x80\x9c": b'"', b"\xe2\x80\x9d": b'"',
}  # fmt: skip
#: A text of at most so many bytes may be copied from a comment, or from output that something marked line by line.
_COPIED = 1 << 16
# The mark, on four lines or more; not that of a dump's headers, of tables or of lists.
_MARKED = re.compile(
    rb"^(?P<mark>[ \t]{0,40}(?:#{1,6}|>>|//(?! -----)|[ \t]\*|\||;|\[?(?:stderr|stdout)[\]:]{1,2}"
    rb"|[A-Z]{4,8}:|\[[\w.:/ -]{1,40}\]:?))(?: [^\n]*[^|\n]| ?)(?:\n(?P=mark)(?: [^\n]*[^|\n]| ?)(?=\n|\Z)){3,}",
    re.MULTILINE,
)
_BYTE_ORDER_MARK = codecs.BOM_UTF8


def _encoding(start: bytes) -> str | None:
    """The variant of UTF-16 or UTF-32 that a text is encoded in; None for UTF-8 and similar encodings."""
    # Before that of UTF-16, with which one of these begins.
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = start[:4096]
    # No code point is larger than 0x10FFFF; only of what is no text the other two bytes are zero as well.
    in_four = [sample[first::4].count(0) for first in range(4)]
    for encoding, highest, lowest in (("utf-32-le", in_four[3], in_four[0]), ("utf-32-be", in_four[0], in_four[3])):
        if highest == len(sample) // 4 > 0 and not lowest and sum(in_four) > len(sample) // 2:
            return encoding
    zeros = [sample[first::2].count(0) for first in (0, 1)]
    # Every second byte of Latin text in UTF-16 is zero, and hardly any of the others.
    for encoding, most, least in (("utf-16-le", zeros[1], zeros[0]), ("utf-16-be", zeros[0], zeros[1])):
        if most > len(sample) // 5 and least <= len(sample) // 40:
            return encoding
    return None


def _of_stream(stream: BinaryIO) -> Iterator[bytes]:
    piece = stream.read(BLOCK) or b""
    encoding = _encoding(piece)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace") if encoding else None
    while piece:
        yield decoder.decode(piece).encode("utf-8", "replace") if decoder else piece
        piece = stream.read(BLOCK) or b""


def _of_lines(lines: Iterable[str]) -> Iterator[bytes]:
    """An item is a line, or several; an empty one is an empty line."""
    batch: list[str] = []
    size = 0
    for line in lines:
        item = line.replace("\0", "") if "\0" in line else line
        batch.append(item if item.endswith("\n") else f"{item}\n")
        size += len(item) + 1
        if size >= BLOCK:
            yield "".join(batch).encode("utf-8", "replace")
            batch, size = [], 0
    yield "".join(batch).encode("utf-8", "replace")


def _pieces(log: Log) -> Iterator[bytes]:
    if isinstance(log, (io.RawIOBase, io.BufferedIOBase)):
        return _of_stream(cast("BinaryIO", log))
    if isinstance(log, str):
        # Whoever decoded UTF-16 as something else left its zeros.
        text = log.replace("\0", "") if "\0" in log else log
        return (text[start : start + BLOCK].encode("utf-8", "replace") for start in range(0, len(text), BLOCK))
    return _of_lines(cast("Iterable[str]", log))


def _unescaped(match: re.Match[bytes]) -> bytes:
    escape = match.group()
    if len(escape) == _PAIR:
        return bytes.fromhex((escape[2:6] + escape[8:12]).decode()).decode("utf-16-be").encode()
    if len(escape) > len(rb"\n"):
        return chr(int(escape[2:], 16)).encode("utf-8", "replace")
    return _ESCAPED.get(escape[1:], escape[1:])


def _text_of_record(line: bytes) -> bytes:
    """A line of JSON up to the end of its text, if that is near its own end."""
    end = _END_OF_TEXT.search(line, max(0, len(line) - _MOST_FIELDS))
    return line[: end.start()] if end else line


def _is_escaped(start: bytes) -> bool:
    """True for JSON with a log in its strings."""
    start = start.strip()
    is_string = start.startswith(b"'") and b"\n" not in start  # what Python's repr shows
    return (is_string or start.startswith((b'{"', b'["', b'"', b"{'"))) and b"\\n" in start


def _end_of_whole(data: bytes, escaped: bool) -> int:
    """Where the last whole line of the data ends; in JSON an escaped line end is one."""
    end = data.rfind(b"\n") + 1
    if not end and escaped and (at := data.rfind(b"\\n", 0, -1)) >= 0:
        end = at + 2
    return end


def _has_lines(line: bytes) -> bool:
    return line.count(b"\\n") >= _FEWEST_ESCAPED or any(mark in line for mark in _ESCAPED_TRACEBACK)


@cache
def _reprs() -> Sieve:
    return sieve_for(_REPRS)


def _plain(block: bytes, escaped: bool) -> bytes:
    if escaped:
        *records, rest = block.split(b"\n")
        block = _ESCAPE.sub(_unescaped, b"\n".join([*map(_text_of_record, records), rest]))
    if _reprs()(block):
        block = _RAISED_REPR.sub(_raised, block)
    # The first test is a hundred times as fast as the second.
    if b"\\" in block and b"\\n" in block and not escaped:
        # Several lines in a string of one: one record among other lines.
        block = b"\n".join(_ESCAPE.sub(_unescaped, line) if _has_lines(line) else line for line in block.split(b"\n"))
    if not block.isascii():
        for typographic, plain in _TYPOGRAPHIC.items():
            block = block.replace(typographic, plain)
    return block


def _uncontrolled(block: bytes) -> bytes:
    return _CONTROL.sub(b"", block) if b"\x1b" in block else block


def _copied(text: bytes) -> bytes:
    """A short text as it was before somebody marked, indented or wrapped it."""
    text = _CONTROL.sub(b"", _MARKED.sub(_unmarked, text))
    text = _COLOUR.sub(b"", text) if _RESET in text else text
    return unwrapped(as_printed(text.decode("utf-8", "replace"))).encode()


def _unmarked(match: re.Match[bytes]) -> bytes:
    mark = match["mark"]
    return b"\n".join(line.removeprefix(mark).removeprefix(b" ") for line in match.group().split(b"\n"))


def _raised(match: re.Match[bytes]) -> bytes:
    """The lines that the exception's traceback would end with, below what stands before it."""
    return b"%b\n%b: %b" % (match["before"], match["name"], _ESCAPE.sub(_unescaped, match["text"]))


def blocks(log: Log) -> Iterator[bytes]:
    """The log's lines, many at a time, all at once of a short text; each block but the last ends with a line's end."""
    pieces = _pieces(log)
    # However few bytes a pipe gives at a time.
    first = bytearray()
    for piece in pieces:
        first += piece
        if len(first) > _COPIED:
            break
    data = bytes(first).removeprefix(_BYTE_ORDER_MARK)
    escaped = _is_escaped(data)
    if len(first) <= _COPIED:
        yield from filter(None, [_copied(_plain(data, escaped))])
        return
    rest = b""
    for piece in chain([data], pieces):
        data = rest + piece
        if end := _end_of_whole(data, escaped):
            yield _uncontrolled(_plain(data[:end], escaped))
        # Of a line without end its beginning is enough.
        rest = data[end : end + BLOCK]
    if rest:
        yield _uncontrolled(_plain(rest, escaped))
