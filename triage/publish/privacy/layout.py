"""A text without its layout: escapes, colours, and what stands before each of its lines.

The rules expect a credential as its program writes it. In a log or a source it may be a string literal
(``"a\\nssh jane@gpu-7"``), be coloured, or have a comment sign or a time before each line."""

import re

_COLOUR = r"(?:\x1b|\\{1,8}(?:x1b|u001b|033|e))\[[0-9;:?]{0,32}[A-Za-z]"
_QUOTES = r"(?P<quotes>(?:\\{1,8}[\"'])+)"
_BREAK = r"\\{1,8}(?P<break>[nrt])"
_BEFORE_LINE = (
    r"^(?:[ \t]{0,32}(?:\[[^\]\n]{1,64}\]:?|#+|//+|[|>*+-]|E   |--(?=[ \t])"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S{0,24}(?:[ \t]{1,4}[A-Z]{4,8}\b:?)?)){1,4}"
)
_LAYOUT = re.compile(f"{_COLOUR}|{_QUOTES}|{_BREAK}|{_BEFORE_LINE}", re.MULTILINE)


def without_layout(text: str) -> str:
    """The text with blanks in place of layout, each other character where it was."""
    return _LAYOUT.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    kept = ""
    if match["quotes"]:
        kept = match["quotes"].replace("\\", "")
    elif match["break"] == "n":
        kept = "\n"
    return kept.rjust(len(match[0]))
