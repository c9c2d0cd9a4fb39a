"""A text without its layout: escapes, colours, and what stands before each of its lines.

The rules expect a credential as its program writes it. In a log or a source it may be a string literal
(``"a\\nssh jane@gpu-7"``), be escaped for HTML, be coloured, or have a comment sign or a time before each line; a
command may go on over several lines, or be a list of its words."""

import re
from html import unescape

_COLOUR = r"(?:\x1b|\\{1,8}(?:x1b|u001b|033|e))\[[0-9;:?]{0,32}[A-Za-z]"
_QUOTES = r"(?P<quotes>(?:\\{1,8}[\"'])+)"
# Three of them, or twice as many in a literal within a literal, are a backslash before the break.
_BREAK = r"(?P<slashes>\\{1,8})(?P<break>[nrt])"
_CHARACTER = r"\\{1,8}(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
_ENTITY = r"(?P<entity>&(?:#\d{1,4}|#x[0-9a-fA-F]{1,4}|quot|apos|lt|gt|amp);)"
_ESCAPE = re.compile(f"{_COLOUR}|{_QUOTES}|{_BREAK}|{_CHARACTER}|{_ENTITY}")
_MARK = (
    r"(?:[ \t]{0,32}(?:\[[^\]\n\"']{1,64}\]:?|#+|//+|[|>*+]|E   |--?(?=[ \t])"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S{0,24}(?:[ \t]{1,4}[A-Z]{4,8}\b:?)?))"
)
_BEFORE_LINE = re.compile(rf"^(?:-{_MARK}{{0,4}}|{_MARK}{{1,4}})", re.MULTILINE)
"""What is indented and begins with a hyphen is an option."""
_CONTINUED = re.compile(r"\\\r?\n")
_BETWEEN_WORDS = re.compile(r"(?<=[\w\]:;=.,|/-])[\"'],\s{0,16}[\"'](?=[^\s,\"'])")


def without_layout(text: str) -> str:
    """The text with blanks in place of layout, each other character where it was."""
    return _CONTINUED.sub(_blank, _BEFORE_LINE.sub(_blank, _ESCAPE.sub(_unescaped, text)))


def with_words_joined(text: str) -> str:
    """The text with blanks between the words of a command that is a list, each other character where it was."""
    return _BETWEEN_WORDS.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _unescaped(match: re.Match[str]) -> str:
    kept = ""
    if match["quotes"]:
        kept = match["quotes"].replace("\\", "")
    elif match["break"] == "n":
        kept = "\\\n" if len(match["slashes"]) in (3, 6) else "\n"
    elif match["entity"]:
        kept = unescape(match[0])
    return kept.rjust(len(match[0]))
