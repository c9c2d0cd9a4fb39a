"""From text as it was captured to the lines a compiler wrote.

Logs reach us through terminals, CI runners and pytest, each of which adds something of its own to a line.
An :class:`Unwrapper` takes one such addition away; a new wrapping is one more entry in ``_unwrappers``.
Everything is done a line at a time and costs time in proportion to the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

#: Longer lines are cut: no failure is told in more, and one line of dumped IR may have megabytes.
MAX_LINE = 16_384

Unwrapper = Callable[[str], str]

_CONTROL = re.compile(
    r"\x1b(?:\[[0-9;:?<=>]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor movements
    r"|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)"  # OSC: titles and links
    r"|[@-Z\\^_])"
)
_GITHUB_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z ")
_QUOTATION = re.compile(r"(?:> ){1,8}")
_PYTEST_FAILURE = re.compile(r"E {3,64}(?=\S)")


def strip_control(line: str) -> str:
    """Take away terminal control sequences."""
    return _CONTROL.sub("", line) if "\x1b" in line else line


def strip_github_time(line: str) -> str:
    """Take away the time stamp that GitHub's runners put before each line of a downloaded log."""
    match = _GITHUB_TIME.match(line) if line[:2] == "20" else None
    return line[match.end() :] if match else line


def strip_quotation(line: str) -> str:
    """Take away the ``> `` of a quotation in an issue or a mail."""
    match = _QUOTATION.match(line) if line[:1] == ">" else None
    return line[match.end() :] if match else line


def pytest_unwrapper() -> Unwrapper:
    """Take away pytest's ``E   `` marker.

    A block's first line says how far pytest has indented it; deeper indentation within is the text's own.
    """
    width = 0

    def unwrap(line: str) -> str:
        nonlocal width
        if not line.startswith("E"):
            width = 0
            return line
        if line.rstrip() == "E":
            return ""
        match = _PYTEST_FAILURE.match(line)
        if match is None:
            width = 0
            return line
        width = min(width or match.end(), match.end())
        return line[width:]

    return unwrap


def _unwrappers() -> tuple[Unwrapper, ...]:
    """The additions taken away, outermost first; made anew for each text because some keep state."""
    return (strip_control, strip_github_time, strip_quotation, pytest_unwrapper())


def physical_lines(text: str | Iterable[str]) -> Iterator[str]:
    """The lines of a string, or of an iterable of lines (a file, a socket), without their ends."""
    # An empty item of an iterable is an empty line; an empty string is no text.
    for piece in (text,) if isinstance(text, str) else (item or "\n" for item in text):
        start = 0
        while start < len(piece):
            end = piece.find("\n", start)
            if end < 0:
                end = len(piece)
            line = piece[start : min(end, start + MAX_LINE)].rstrip("\r")
            # A bare carriage return redraws a line (progress bars): what was written last stands.
            yield line.rpartition("\r")[2]
            start = end + 1


def clean_lines(text: str | Iterable[str]) -> Iterator[str]:
    """The text's lines with every known wrapping taken away."""
    unwrappers = _unwrappers()
    for raw in physical_lines(text):
        line = raw
        for unwrap in unwrappers:
            line = unwrap(line)
        yield line
