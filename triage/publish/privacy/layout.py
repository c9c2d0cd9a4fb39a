"""A text without its layout: the prefix of each of its lines, and the ends of lines within a command.

The rules expect a credential as its program writes it. In a log or a source each line may be behind a comment sign or a
time; a command may go on over several lines, or be a list of its words."""

import re

from triage.publish.privacy.layers import Layer

_MARK = (
    r"(?:[ \t]{0,32}(?:\[[^\]\n\"']{1,64}\]:?|#+|//+|\d{1,6}[ \t]{0,4}[|:](?=[ \t])|[|>*+]|E   |--?(?=[ \t])"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S{0,24}(?:[ \t]{1,4}[A-Z]{4,8}\b:?)?))"
)
_MARKS = rf"(?:-(?!---){_MARK}{{0,4}}|{_MARK}{{1,4}})"
"""What is indented and begins with a hyphen is an option."""
# Lines go on behind the signs of a POSIX shell, of Windows and of PowerShell.
_LAYOUT = re.compile(rf"^{_MARKS}|[\\^`][ \t]{{0,8}}\n{_MARKS}?[ \t]{{0,200}}|\t|(?<=\S)  +", re.MULTILINE)
# Begins with the mark, which is searched for; most texts have few.
_BETWEEN_WORDS = re.compile(r"[\"'](?<=[\w\]:;=.,|/-].),\s{0,200}[\"'](?=[^\s,\"'])")


def without_layout(layer: Layer) -> Layer:
    """The text with a blank in place of layout; itself if it has none."""
    return layer.replaced(_LAYOUT, _blank)


def with_words_joined(layer: Layer) -> Layer:
    """The text with a blank between the words of a command that is a list; itself if there is no list."""
    return layer.replaced(_BETWEEN_WORDS, _blank)


def _blank(match: re.Match[str]) -> str:
    return " "
