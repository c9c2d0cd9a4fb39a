"""What a text says below its escapes, one layer at a time, with the origin of each character.

A credential in a log may be in a shell's quotes, in a string literal, in JSON, in HTML or a URL, in any order and
depth. Each layer is decoded once for all rules, so that no pattern has a variant for escapes."""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from html import entities, unescape
from typing import NamedTuple

_MOST_LAYERS = 8
"""Three literals within each other, of which each is within HTML or a URL, and two for the shell."""
_ENTITIES = "|".join(
    name.rstrip(";")
    for name, character in entities.html5.items()
    if name.endswith(";") and character in "".join(map(chr, range(9, 127))) + "\xa0"
)
_SPACES = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_INVISIBLE = "\xad\u034f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
_ESCAPE = re.compile(
    # The first characters, since most are none of them.
    rf"(?=[\\&%'\"$^+\x00\x0b-\x0d\x1b\x85\u2018-\u201f\u2028-\u2036{_SPACES}{_INVISIBLE}])(?:"
    + "|".join(
        (
            # A terminal's control sequence.
            r"(?P<control>\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[\]_P^X][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)|[@-Z^_]))",
            # A quotation mark within the shell's quotation marks.
            r"""(?P<quote>'"'"'|'\\''|"'"'")""",
            # CSV and YAML write a quotation mark twice; an empty string has nothing beside it.
            r"""(?P<twice>(?<![\"'])(?:''|"")(?=\w)|(?<=\w)(?:''|"")(?=[\s,;:=&|)\]}]))""",
            # The escapes of Windows' command line.
            r"\^(?P<caret>[&|<>^\"])",
            # Of forms, for a blank.
            r"(?P<plus>\+(?=[^\s\"'<>]{0,64}%[2-7][0-9A-Fa-f])|(?<=%[2-7][0-9A-Fa-f])\+)",
            r"(?P<dollar>\$'(?<=[\s=(:]\$'))",
            # LLVM and MLIR write what cannot be printed, quotation marks and backslashes as two capital digits.
            r"\\(?:(?P<octal>[01][0-7]{2})|(?P<printed>0[09AD]|1B|22|5C)"
            r"|x(?P<byte>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})|u\{(?P<point>[0-9a-fA-F]{1,5})\}"
            r"|U(?P<long>000[0-9a-fA-F]{5})|(?P<letter>[abefnrtv0])|(?P<mark>[^\w\s&]|[ _]))",
            rf"&(?P<entity>#[0-9]{{1,6}}|#[xX][0-9a-fA-F]{{1,5}}|{_ENTITIES});",
            # Values in MLIR have numbers as well, but are words of their own.
            r"%(?:(?<=[^\s(\[{,;!]%)|(?=..[A-Za-z%]))(?P<percent>[2-7][0-9a-fA-F]|0[09aAdD]|1[bB])",
            # A text that is written as text twice on Windows ends its lines in \r\r\n.
            r"(?P<end>\r{1,4}\n|[\r\x0b\x0c\x85\u2028\u2029])",
            # UTF-16 that was read byte by byte; other zeros are between entries.
            r"(?P<wide>\x00(?:(?=[ -~]\x00)|(?<=\x00[ -~]\x00)))",
            rf"(?P<space>[{_SPACES}\x00])",
            rf"(?P<invisible>[{_INVISIBLE}])",
            r"(?P<double>[\u201c-\u201f\u2033\u2036])",
            r"(?P<single>[\u2018-\u201b\u2032\u2035])",
        )
    )
    + ")"
)
_UNKNOWN = "\ufffd"
"""Replaces an unpaired surrogate of UTF-16, which is not a character."""
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "e": "\x1b", "0": "\x00"}
_FIXED = {
    "control": "",
    "dollar": "'",
    "end": "\n",
    "wide": "",
    "space": " ",
    "plus": " ",
    "invisible": "",
    "double": '"',
    "single": "'",
}


class _Piece(NamedTuple):
    """``[start, end)`` of a text is ``[inner, inner_end)`` in one that was made of it."""

    start: int
    end: int
    inner: int
    inner_end: int


class Layer:
    """A text and where it comes from. ``pieces``: in what it differs from the text above."""

    def __init__(self, text: str, above: "Layer | None" = None, pieces: Sequence[_Piece] = ()) -> None:
        self.text = text
        self._above = above
        self._pieces = pieces
        self._below: Layer | None = None

    def replaced(self, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> "Layer":
        """The text with each match replaced by at most one character; itself if there is none."""
        parts: list[str] = []
        pieces: list[_Piece] = []
        at = length = 0
        for match in pattern.finditer(self.text):
            character = replace(match)
            inner = length + match.start() - at
            length = inner + len(character)
            pieces.append(_Piece(*match.span(), inner, length))
            parts += (self.text[at : match.start()], character)
            at = match.end()
        return Layer("".join((*parts, self.text[at:])), self, pieces) if pieces else self

    def below(self) -> "Layer | None":
        """The text that this one has escaped."""
        if (decoded := self.replaced(_ESCAPE, _character)) is not self:
            self._below = decoded
        return self._below

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where ``text[start:end]`` is in the outermost text; an escape of which it has only a part is left out."""
        layer = self
        start, end = layer._whole(start, end)
        while start < end and layer._above is not None:
            start, end = layer._above._whole(layer._outer(start)[0], layer._outer(end - 1)[1])
            layer = layer._above
        return start, end

    def _whole(self, start: int, end: int) -> tuple[int, int]:
        """The part without what it has of escapes that it divides, in this layer or below."""
        if (below := self._below) is None:
            return start, end
        first, last = below._last(start, _start), below._last(end, _start)
        if first and first.start < start < first.end:
            start = first.end
        if last and last.start < end < last.end:
            end = last.start
        if start >= end:
            return start, end
        inner = below._inner(start), below._inner(end)
        inner_start, inner_end = below._whole(*inner)
        if inner_start >= inner_end:
            return start, start
        return (
            start if inner_start == inner[0] else below._outer(inner_start)[0],
            end if inner_end == inner[1] else below._outer(inner_end - 1)[1],
        )

    def _inner(self, edge: int) -> int:
        """Where an edge between two characters of the text above, which divides no piece, is in this one."""
        piece = self._last(edge - 1, _start)
        return piece.inner_end + edge - piece.end if piece else edge

    def _outer(self, at: int) -> tuple[int, int]:
        """Start and end of what a character is in the text above."""
        piece = self._last(at, _inner_start)
        if piece and at < piece.inner_end:
            return piece.start, piece.end
        outer = at + (piece.end - piece.inner_end if piece else 0)
        return outer, outer + 1

    def _last(self, at: int, position: Callable[[_Piece], int]) -> _Piece | None:
        """The last piece that begins there or before."""
        index = bisect_right(self._pieces, at, key=position)
        return self._pieces[index - 1] if index else None


def layers(text: str) -> list[Layer]:
    """The text and what is below it, the outermost first."""
    chain = [Layer(text)]
    while len(chain) < _MOST_LAYERS and (below := chain[-1].below()) is not None:
        chain.append(below)
    return chain


def _start(piece: _Piece) -> int:
    return piece.start


def _inner_start(piece: _Piece) -> int:
    return piece.inner


def _character(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    written = match[kind]
    match kind:
        case "mark" | "caret":
            return written
        case "quote" | "twice":
            return written[0]
        case "letter":
            return _LETTERS.get(written, " ")
        case "entity":
            return unescape(match[0])
        case "octal":
            return chr(int(written, 8))
        case "printed" | "byte" | "short" | "point" | "long" | "percent":
            code = int(written, 16)
            return _UNKNOWN if 0xD800 <= code < 0xE000 else chr(code)
    return _FIXED[kind]
