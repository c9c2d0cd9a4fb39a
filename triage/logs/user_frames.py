"""Frames of tracebacks, as Python, pytest, IPython and Colab print them, and which of them are the user's.

An exception without a location in the kernel is located at the user's line that compiled or launched it.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from triage.logs.cute_texts import OF_WORKER
from triage.logs.finding import Finding
from triage.logs.patterns import regex
from triage.logs.text import last_component
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation

_FRAME = regex(
    r'^ {0,40}File "(?P<python>[^"]{1,1000})", line \d'
    r"|^(?P<pytest>[^\s:\"]{1,400}\.py):\d{1,7}:(?: (?:in )?(?!\w{0,60}Warning\b)\w| ?$)"
    r"|^File \[?(?P<ipython>(?:[A-Za-z]:)?[^:\"]{1,400}\.py):\S{1,400}, in \w"
    r"|^\[?(?P<colab>[^\s\]]{1,400}\.py)(?:\]\(\S{0,400}\))? in [\w<]"
    r"|^(?P<rich>(?:[A-Za-z]:\\|/)[^:\"]{1,400}\.py):\d{1,7} in [\w<]"
    # pybind11's, innermost first
    r"|^ {1,8}(?P<pybind>[^\s:\"()]{1,400}\.py)\(\d{1,7}\): [\w<]"
    r"|^(?P<cell>(?:Cell|Input) In ?\[\d{1,6}\]|<ipython-input-[\w-]{1,80}>)(?:, \[?line \d|,? in [\w<])"
)
_NUMBER = regex(r'["\]], \[?line (?P<python>\d{1,7})|\.py:(?P<plain>\d{1,7})|\.py\((?P<pybind>\d{1,7})\): ')
# The line of the source that a notebook's frame is at, and how many lines it shows at most up to that one.
_ARROW = regex(r"-{1,6}> ?(?:(?P<line>\d{1,7})|\[(?P<linked>\d{1,7})\]\(\S{0,400}\))(?P<text>(?: .{0,1000})?)$")
_MOST_SHOWN = 6
# Python's own files, code that has none or is no Python, and the libraries that launch kernels for others.
_OF_LIBRARY = regex(
    r"^<(?!ipython-input-)|\.(?:c|cc|cpp|h|pyx|pxi|so)$|[\\/]lib[\\/]python3\.\d{1,2}[\\/](?!(?:site|dist)-packages)|[\\/]torch[\\/]|torchinductor_"
    r"|(?:^|[\\/])triton[\\/](?:code_gen|spec[\\/]|runtime|compiler|backends|language|experimental|knobs|testing|tools|_|ops[\\/]|__init__)"
    # a script that pip installed
    r"|[\\/]bin[\\/][^\\/.]{1,80}$"
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


def is_innermost_first(line: str) -> bool:
    """True for a frame of a traceback whose innermost frame stands above the others."""
    frame = _FRAME.match(line)
    return frame is not None and frame.lastgroup == "pybind"


def users_line(file: str, line: str, after: Iterable[str] = ()) -> SourceLocation | None:
    """Where the frame is, if it is neither of Python nor of a library that compiles or launches kernels.

    ``after`` are the lines below: a notebook's frame without a number is at the one that an arrow marks.
    """
    if _OF_LIBRARY.search(file) or OF_WORKER.search(file) or _LEFT_OUT.match(file):
        return None
    if number := _NUMBER.search(line):
        return SourceLocation(file, int(number[number.lastgroup or 0]))
    marked = next(filter(None, map(_ARROW.match, islice(after, _MOST_SHOWN))), None)
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


def _closing_line(stated: str, lines: Iterable[str]) -> SourceLocation | None:
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


def _is_located(diagnosis: Diagnosis) -> bool:
    """Whether a line of a kernel or of the compiler is known; one of generated PTX is neither."""
    return diagnosis.source is not None or (diagnosis.file is not None and diagnosis.kind is not Kind.PTXAS)


def with_source(finding: Finding, window: Window, source: SourceLocation | None) -> Finding:
    """The finding for an exception; one without a location gets ``source``, the user's line in its traceback."""
    diagnosis = finding.diagnosis
    if _is_located(diagnosis):
        return finding
    source = _closing_line(window.line, [window.line, *window.after]) or source
    if source is None:
        return finding
    return replace(finding, diagnosis=replace(diagnosis, source=with_text(source, window.before)))


def with_any_source(findings: list[Finding], source: SourceLocation | None) -> list[Finding]:
    """The findings of a text that tells of one failure: what has no location has that of the first one of its kind, or
    ``source``, the user's line in the last traceback, if none has any."""
    places: dict[Kind, SourceLocation | None] = {}
    for finding in findings:
        if _is_located(finding.diagnosis):
            places.setdefault(finding.diagnosis.kind, finding.diagnosis.source)
    return [
        replace(finding, diagnosis=replace(finding.diagnosis, source=found))
        if not _is_located(finding.diagnosis) and (found := places.get(finding.diagnosis.kind) if places else source)
        else finding
        for finding in findings
    ]


def with_line_of_triton(
    findings: list[Finding], raised: tuple[SourceLocation, str] | None, *kinds: Kind
) -> list[Finding]:
    """The findings; an exception around the compiler or in its Python code that has no location gets the line of
    Triton's that raised it. ``kinds``: of which else."""
    if raised is None:
        return findings
    source, function = raised
    file, line = last_component(source.file), source.line
    return [
        replace(finding, diagnosis=replace(finding.diagnosis, file=file, line=line, function=function))
        if finding.diagnosis.kind in (Kind.ENVIRONMENT, Kind.PYTHON_EXCEPTION, *kinds)
        and finding.diagnosis.exception is not None
        and not _is_located(finding.diagnosis)
        else finding
        for finding in findings
    ]


def with_open_source(findings: list[Finding], source: SourceLocation | None) -> list[Finding]:
    """The findings; those that repeat the last one get, if they have no location, the line in the traceback that the
    text breaks off in."""
    if not findings or source is None:
        return findings
    kind = findings[-1].diagnosis.kind
    return [
        replace(finding, diagnosis=replace(finding.diagnosis, source=source))
        if finding.diagnosis.kind is kind and not _is_located(finding.diagnosis)
        else finding
        for finding in findings
    ]
