"""Frames of tracebacks, as Python, pytest, IPython and Colab print them, and which of them are the user's."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from triage.logs.cute_texts import OF_WORKER
from triage.logs.patterns import regex
from triage.model.diagnosis import SourceLocation

# How an item of a list begins.
_ITEM = r"(?:(?:[-*+\u2022]|\d{1,3}[.)]) {1,3})?"
_FRAME = regex(
    r'^ {0,40}File "(?P<python>[^"]{1,1000})", line \d'
    r"|^(?P<pytest>[^\s:\"]{1,400}\.py):\d{1,7}:(?: (?:in )?(?!\w{0,60}Warning\b)\w| ?$)"
    r"|^File \[?(?P<ipython>(?:[A-Za-z]:)?[^:\"]{1,400}\.py):\S{1,400}, in \w"
    r"|^\[?(?P<colab>[^\s\]]{1,400}\.py)(?:\]\(\S{0,400}\))? in [\w<]"
    r"|^(?P<rich>(?:[A-Za-z]:\\|/)[^:\"]{1,400}\.py):\d{1,7} in [\w<]"
    # as people shorten them in a report, or list them
    r"|^ {0,8}(?P<short>[^\s:\"]{1,400}\.py):\d{1,7}(?: {1,8}[a-z_]\w{2,80}(?:\(\))?$| {2,8}[a-zA-Z_])"
    rf"|^ {{0,8}}{_ITEM}(?P<listed>[^\s:\"`]{{1,400}}\.py):\d{{1,7}}`?(?:,? in|:| (?:\u2192|->|-)) `?[\w<]"
    rf"|^ {{0,40}}{_ITEM}(?:File )?`?(?P<unquoted>[^\s:\",`]{{1,400}}\.py)`?, line \d{{1,7}},? in `?[\w<]"
    r"|^ {0,8}at (?:(?:[\w.]{1,200} \()?(?P<at>[^\s:\"()]{1,400}\.py):\d{1,7}(?:\)| in \w))"
    # pybind11's, innermost first
    r"|^ {1,8}(?P<pybind>[^\s:\"()]{1,400}\.py)\(\d{1,7}\): [\w<]"
    # an editor's link to the line, where the frame's head was cut off
    r"|^-{1,6}> ?\[\d{1,7}\]\((?:[\w+.-]{1,40}://[^/\s]{1,300})?(?P<link>/[^\s:()]{1,400}\.py):\d{1,7}\)"
    r"|^(?P<cell>(?:Cell|Input) In ?\[\d{1,6}\]|<ipython-input-[\w-]{1,80}>)(?:, \[?line \d|,? in [\w<])"
)
_NUMBER = regex(r'(?:["\]]|\.py`?), \[?line (?P<python>\d{1,7})|\.py:(?P<plain>\d{1,7})|\.py\((?P<pybind>\d{1,7})\): ')
# The line of the source that a notebook's frame is at.
_ARROW = regex(r"-{1,6}> ?(?:(?P<line>\d{1,7})|\[(?P<linked>\d{1,7})\]\(\S{0,400}\))(?P<text>(?: .{0,1000})?)$")
#: Lines that such a frame shows at most, up to that one.
MOST_SHOWN = 6
_NOTEBOOKS = ("ipython", "colab", "cell")
# Python's own files, code that has none or is no Python, and the libraries that launch kernels for others.
_OF_LIBRARY = regex(
    r"^<(?!ipython-input-)|\.(?:c|cc|cpp|h|pyx|pxi|so)$|[\\/]lib[\\/]python3\.\d{1,2}[\\/](?!(?:site|dist)-packages)|[\\/]torch[\\/]|torchinductor_"
    r"|(?:^|[\\/])triton[\\/](?:code_gen|spec[\\/]|runtime|compiler|backends|language|experimental|knobs|testing|tools|_|ops[\\/]|__init__)"
    r"|(?:-packages|[\\/]python)[\\/]triton[\\/]"
    # a script that pip installed
    r"|[\\/]bin[\\/][^\\/.]{1,80}$"
    # without folders, as people shorten them
    r"|^(?:jit|compiler|code_generator|autotuner)\.py$"
    r"|[\\/]helion[\\/](?:runtime|autotuner|_compiler)\b|[\\/]jax(?:_triton)?[\\/]",
    re.IGNORECASE,
)
# A file whose name somebody left out.
_LEFT_OUT = regex(r"[^\w]{1,8}$")
# What torch's Inductor generates.
_GENERATED = regex(r"[\\/]torchinductor_")
# Below the lines of a failure pytest states where it was raised: `tests/test_k.py:12: ValueError`.
_CLOSING = regex(r"(?P<file>[^\s:\"]{1,400}\.py):(?P<line>\d{1,7}): (?:\w{1,80}\.){0,12}(?P<exception>[A-Z]\w{1,80})\b")


def frame_file(line: str) -> str | None:
    """The file of a frame; None for any other line."""
    frame = _FRAME.match(line)
    return frame[frame.lastgroup or 0] if frame else None


def is_notebooks(line: str) -> bool:
    """True for a frame as IPython and Colab print it, with lines of the source below it."""
    frame = _FRAME.match(line)
    return frame is not None and frame.lastgroup in _NOTEBOOKS


def is_innermost_first(line: str) -> bool:
    """True for a frame of a traceback whose innermost frame stands above the others."""
    frame = _FRAME.match(line)
    return frame is not None and frame.lastgroup in ("pybind", "at")


def users_line(file: str, line: str, after: Iterable[str] = ()) -> SourceLocation | None:
    """Where the frame is, if it is neither of Python nor of a library that compiles or launches kernels.

    ``after`` are the lines below: a notebook's frame without a number is at the one that an arrow marks.
    """
    if _OF_LIBRARY.search(file) or OF_WORKER.search(file) or _LEFT_OUT.match(file):
        return None
    if number := _NUMBER.search(line):
        return SourceLocation(file, int(number[number.lastgroup or 0]))
    marked = next(filter(None, map(_ARROW.match, islice(after, MOST_SHOWN))), None)
    if marked is None:
        return None
    return SourceLocation(file, int(marked["line"] or marked["linked"]), text=marked["text"].strip() or None)


def is_arrow(line: str) -> bool:
    """True for the line of the source that a notebook's frame is at."""
    return _ARROW.match(line) is not None


def generated_line(file: str, line: str) -> SourceLocation | None:
    """Where the frame is, if it is in a program that torch generated."""
    number = _NUMBER.search(line) if _GENERATED.search(file) else None
    return SourceLocation(file, int(number[number.lastgroup or 0])) if number else None


def is_installed(file: str) -> bool:
    """True for a file of a package that was installed: a library's, or one that the user runs."""
    return "site-packages" in file or "dist-packages" in file


def closing_line(stated: str, lines: Iterable[str]) -> SourceLocation | None:
    """Where pytest says that the exception that a line states was raised, if that is the user's line."""
    for line in lines:
        if (closing := _CLOSING.match(line.strip())) and closing["exception"] in stated:
            return users_line(closing["file"], closing.group())
    return None


def with_text(source: SourceLocation, before: Sequence[str]) -> SourceLocation:
    """The location with the text of its line, if one of the frames above an exception shows it."""
    if source.text is not None:
        return source
    frame = f'  File "{source.file}", line {source.line}, in '
    shown = next((text.strip() for above, text in pairwise(before) if above.startswith(frame)), None)
    return replace(source, text=shown)
