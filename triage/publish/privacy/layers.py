"""What a text says below its escapes, one layer at a time, with the origin of each character.

A credential in a log may be in a shell's quotes, in a string literal, in JSON, in HTML or a URL, in any order and
depth. Each layer is decoded once for all rules, so that no pattern has a variant for escapes."""

import re
from bisect import bisect_right
from collections.abc import Callable
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
    "|".join(
        (
            # A terminal's control sequence.
            r"(?P<control>\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[\]_P^X][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)|[@-Z^_]))",
            # A quotation mark within the shell's quotation marks.
            r"""(?P<quote>'"'"'|'\\''|"'"'")""",
            r"(?P<dollar>\$'(?<=[\s=(:]\$'))",
            # LLVM and MLIR write what cannot be printed, quotation marks and backslashes as two capital digits.
            r"\\(?:(?P<octal>[01][0-7]{2})|(?P<printed>0[09AD]|1B|22|5C)"
            r"|x(?P<byte>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})|u\{(?P<point>[0-9a-fA-F]{1,5})\}"
            r"|U(?P<long>000[0-9a-fA-F]{5})|(?P<letter>[abefnrtv0])|(?P<mark>[^\w\s&]|[ _]))",
            rf"&(?P<entity>#[0-9]{{1,6}}|#[xX][0-9a-fA-F]{{1,5}}|{_ENTITIES});",
            # Values in MLIR have numbers as well, but are words of their own.
            r"%(?:(?<=[^\s(\[{,;!]%)|(?=..[A-Za-z%]))(?P<percent>[2-7][0-9a-fA-F]|0[09aAdD]|1[bB])",
            r"(?P<end>\r\n?|[\x0b\x0c\x85\u2028\u2029])",
            # UTF-16 that was read byte by byte; other zeros are between entries.
            r"(?P<wide>\x00(?:(?=[ -~]\x00)|(?<=\x00[ -~]\x00)))",
            rf"(?P<space>[{_SPACES}\x00])",
            rf"(?P<invisible>[{_INVISIBLE}])",
            r"(?P<double>[\u201c-\u201f\u2033\u2036])",
            r"(?P<single>[\u2018-\u201b\u2032\u2035])",
        )
    )
)
_UNKNOWN = "\ufffd"
"""In place of half a pair of UTF-16, which is no character."""
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "e": "\x1b", "0": "\x00"}
_FIXED = {
    "control": "",
    "dollar": "'",
    "end": "\n",
    "wide": "",
    "space": " ",
    "invisible": "",
    "double": '"',
    "single": "'",
}


class _Escape(NamedTuple):
    """``[start, end)`` of a text stands for ``[inner, inner_end)`` of what is below, at most one character."""

    start: int
    end: int
    inner: int
    inner_end: int


class Layer:
    """A text, its escapes, and where it comes from."""

    def __init__(self, text: str, above: "Layer | None" = None) -> None:
        self.text = text
        self._above = above
        self._below: Layer | None = None
        self._escapes: list[_Escape] = []

    def decoded(self) -> "Layer | None":
        """The layer below, if the text has an escape."""
        parts: list[str] = []
        at = length = 0
        for match in _ESCAPE.finditer(self.text):
            character = _character(match)
            inner = length + match.start() - at
            length = inner + len(character)
            self._escapes.append(_Escape(*match.span(), inner, length))
            parts += (self.text[at : match.start()], character)
            at = match.end()
        if parts:
            self._below = Layer("".join((*parts, self.text[at:])), self)
        return self._below

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Where ``text[start:end]`` is in the outermost text; an escape of which it has only a part is left out."""
        start, end = self._whole(start, end)
        layer = self
        while start < end and layer._above is not None:
            layer = layer._above
            start, end = layer._outer(start)[0], layer._outer(end - 1)[1]
        return start, end

    def _whole(self, start: int, end: int) -> tuple[int, int]:
        """The part without what it has of escapes that it divides, in this layer or below."""
        first, last = self._last(start, _start), self._last(end, _start)
        if first and first.start < start < first.end:
            start = first.end
        if last and last.start < end < last.end:
            end = last.start
        if self._below is None or start >= end:
            return start, end
        inner = self._inner(start), self._inner(end)
        inner_start, inner_end = self._below._whole(*inner)
        if inner_start >= inner_end:
            return start, start
        return (
            start if inner_start == inner[0] else self._outer(inner_start)[0],
            end if inner_end == inner[1] else self._outer(inner_end - 1)[1],
        )

    def _inner(self, edge: int) -> int:
        """Where the edge between two characters, neither of an escape that it divides, is in the layer below."""
        escape = self._last(edge - 1, _start)
        return escape.inner_end + edge - escape.end if escape else edge

    def _outer(self, at: int) -> tuple[int, int]:
        """Start and end of what stands for a character of the layer below."""
        escape = self._last(at, _inner_start)
        if escape and at < escape.inner_end:
            return escape.start, escape.end
        outer = at + (escape.end - escape.inner_end if escape else 0)
        return outer, outer + 1

    def _last(self, at: int, position: Callable[[_Escape], int]) -> _Escape | None:
        """The last escape that begins there or before."""
        index = bisect_right(self._escapes, at, key=position)
        return self._escapes[index - 1] if index else None


def layers(text: str) -> list[Layer]:
    """The text and what is below it, the outermost first."""
    chain = [Layer(text)]
    while len(chain) < _MOST_LAYERS and (below := chain[-1].decoded()) is not None:
        chain.append(below)
    return chain


def _start(escape: _Escape) -> int:
    return escape.start


def _inner_start(escape: _Escape) -> int:
    return escape.inner


def _character(match: re.Match[str]) -> str:
    kind = match.lastgroup or ""
    written = match[kind]
    match kind:
        case "mark":
            return written
        case "quote":
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
