"""What a line of a text is like: its words, its shape and where it stands."""

import math
import re
from collections.abc import Sequence

from triage.logs.patterns import regex

#: Characters of a line, and lines of a text, that are looked at.
MAX_LINE = 600
MAX_LINES = 200
#: Lines whose words tell the kind.
_TEXT_LINES = 40
#: How the features of a text begin.
TEXT = "text "

_WORD = regex(r"[A-Za-z_][A-Za-z_0-9]{0,80}|[\u4e00-\u9fff]{2}")
_PARTS = regex(r"_|(?<=[a-z0-9])(?=[A-Z])")
#: Shapes of a line without the space around it: of exceptions, diagnostics, frames, programs and prose.
_SHAPES: dict[str, re.Pattern[str]] = {
    "an exception's name": regex(r"\b[A-Z]\w{1,80}(?:Error|Exception)\b"),
    "an exception": regex(r"^(?:[a-z_]\w{0,80}\.){0,12}[A-Z]\w{0,80}(?:Error|Exception|Failure|Resources)(?::|$)"),
    "error:": regex(r"\berror ?:", re.IGNORECASE),
    "fatal": regex(r"fatal", re.IGNORECASE),
    "location": regex(r"\S:\d{1,6}:\d{1,6}:"),
    "error at a location": regex(r"\S:\d{1,6}:\d{1,6}: error"),
    "loc": regex(r"^loc\("),
    "file": regex(r"^File "),
    "native frame": regex(r"^#?\d{1,4}\s{1,9}\S{1,80}\s{1,9}0x|^#\d"),
    "statement": regex(r"^(?:import|from|def|return|class|for|if|with|@|raise|assert)\b"),
    "assignment": regex(r"^[\w.\[\]]{1,80} ?=[^=]"),
    "call": regex(r"^[\w.]{1,80}\(.{0,400}\)$"),
    "backtick": regex("`"),
    "double quotation mark": regex('"'),
    "quotation": regex(r"'[^']{1,200}'"),
    "colon at the end": regex(r":$"),
    "colon": regex(": "),
    "stop at the end": regex(r"\.$"),
    "question": regex(r"\?$"),
    "tag": regex(r"^\[\w[^\]]{0,80}\]"),
    "namespace": regex("::"),
    "address": regex("http"),
    "item": regex(r"^[-*] "),
    "key and value": regex(r"^[\w ]{2,30}: ?\S{1,400}$"),
    "IR": regex(r"%\w{1,40} = |!tt\.|#ttg"),
    "prompt": regex(r"^[$>]"),
    "path": regex(r"/\w{1,80}/\w"),
    "number": regex(r"\d{3}"),
    "fence": regex(r"^```"),
}
_INDENTED = "    "
_OF_A_SENTENCE = regex(r"\b(?:the|is|when|with|a|to|on)\b")
_SENTENCE = 8
"""Words that a sentence has at least."""


def words(line: str) -> list[str]:
    """The words of a line in lower case, and those that a name joins."""
    result: list[str] = []
    for word in _WORD.findall(line[:MAX_LINE]):
        result.append(word.lower())
        parts = _PARTS.split(word)
        result += [part.lower() for part in parts if len(part) > 2] if len(parts) > 1 else []
    return result


def _magnitude(number: int, most: int) -> int:
    return min(most, int(math.log2(number + 1)))


def _shapes(lines: Sequence[str], number: int) -> list[str]:
    line, above = lines[number], lines[number - 1] if number else ""
    stripped = line.strip()[:MAX_LINE]
    shapes = [name for name, pattern in _SHAPES.items() if pattern.search(stripped)]
    shapes += ["sentence"] if stripped.count(" ") >= _SENTENCE and _OF_A_SENTENCE.search(stripped) else []
    shapes += ["indented"] if line.startswith(_INDENTED) else []
    shapes += ["below a colon"] if above.rstrip().endswith(":") else []
    shapes += ["below an indented line"] if above.startswith(_INDENTED) and not line.startswith(" ") else []
    return shapes


def of_line(lines: Sequence[str], number: int) -> list[str]:
    """The features of a line: its words, its shape and its position, each once."""
    length = _magnitude(len(lines[number].strip()), 8)
    lines_count = _magnitude(len(lines), 6)
    shapes = [f"is {shape}" for shape in _shapes(lines, number)]
    position = ["first" if number == 0 else "second" if number == 1 else "later", f"quarter {4 * number // len(lines)}"]
    if number == 0:
        position += [f"first of {lines_count}", *(f"first {shape}" for shape in shapes)]
    if number == len(lines) - 1:
        position.append("last")
    return [*(f"word {word}" for word in dict.fromkeys(words(lines[number]))), *shapes, *position, f"length {length}"]


def of_text(lines: Sequence[str]) -> list[str]:
    """The features of a text: the words of its first lines, each once, and one that every text has."""
    present = dict.fromkeys(word for line in lines[:_TEXT_LINES] for word in words(line))
    return [TEXT, *(f"{TEXT}{word}" for word in present)]
