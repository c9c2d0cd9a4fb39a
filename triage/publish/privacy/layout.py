"""A text without its layout: what stands before each of its lines, and the ends of lines within a command.

The rules expect a credential as its program writes it. In a log or a source each line may be behind a comment sign or a
time; a command may go on over several lines, or be a list of its words."""

import re

_MARK = (
    r"(?:[ \t]{0,32}(?:\[[^\]\n\"']{1,64}\]:?|#+|//+|[|>*+]|E   |--?(?=[ \t])"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S{0,24}(?:[ \t]{1,4}[A-Z]{4,8}\b:?)?))"
)
_BEFORE_LINE = re.compile(rf"^(?:-(?!---){_MARK}{{0,4}}|{_MARK}{{1,4}})", re.MULTILINE)
"""What is indented and begins with a hyphen is an option."""
_CONTINUED = re.compile(r"[\\^`][ \t]{0,8}\n")
"""Of a POSIX shell, of Windows and of PowerShell."""
_BETWEEN_WORDS = re.compile(r"(?<=[\w\]:;=.,|/-])[\"'],\s{0,16}[\"'](?=[^\s,\"'])")


def without_layout(text: str) -> str:
    """The text with blanks in place of layout, each other character where it was."""
    return _CONTINUED.sub(_blank, _BEFORE_LINE.sub(_blank, text)).replace("\t", " ")


def with_words_joined(text: str) -> str:
    """The text with blanks between the words of a command that is a list, each other character where it was."""
    return _BETWEEN_WORDS.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
