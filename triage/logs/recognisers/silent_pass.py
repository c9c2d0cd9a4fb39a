"""A pass that failed without a message: there is only ``PassManager::run failed``, or the name of the pass.

``note: Pipeline failed while executing [`A` on 'builtin.module' operation, `B` on …]: reproducer…``: the
brackets go from the outermost pass manager in, so the last name is the pass that failed.
"""

import re
from collections.abc import Iterable

from triage.logs.diagnostic_lines import TAILS, location_above
from triage.logs.finding import Finding, Specificity
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.diagnosis import Kind, SourceLocation

_PIPELINE = "Pipeline failed while executing"
_RUN = "PassManager::run failed"
# Excludes quotations in prose.
_RAISED = regex(r"(?:^|: |\(|! )['\"]?PassManager::run failed(?!`)")
_NAME = regex(r"`(\w{1,200})` on ")
_STATED = regex(r"Pipeline failed while executing (?P<name>\w{1,200}): (?P<text>\S.{0,2000})")

# The kernel's location before `note: Pipeline failed`; other threads may print in between.
_PLACE = regex(r"(?P<file>[^\s:\"]{1,400}\.py)\"?:(?P<line>\d{1,7}):(?P<column>\d{1,7})(?=\W)")
# Maximum number of lines between a location and the pass.
_MOST_TEXT = 4


def failed_pass(line: str, after: Iterable[str] = ()) -> str | None:
    """The innermost pass that a ``Pipeline failed`` line names, or the line below where it is wrapped there."""
    _, stated, rest = line.partition(_PIPELINE)
    rest = rest.strip() or (next(iter(after), "").strip() if stated else "")
    if not rest:
        return None
    if names := _NAME.findall(rest[:4000]):
        return str(names[-1])
    # As some wrappers and users write it.
    plain = re.match(r"[\[`]{0,2}(\w{1,200})(?=:|`| on | ?(?:\.\.\.|…)|\]|\s*$)", rest)
    return plain[1] if plain else None


def headline(name: str | None) -> str:
    """The headline of a pass that failed without a message."""
    return f"The pass {name} failed without a message" if name else "A pass failed without a message"


def says_nothing(message: str) -> bool:
    """True for a text that says only that a pass failed."""
    return RECOGNISER.wants(message) or any(tail in message for tail in TAILS)


def error_text(line: str) -> str | None:
    """The reason that some wrappers append to the pass in a ``Pipeline failed`` line."""
    stated = _STATED.search(line)
    return stated["text"] if stated else None


def _unlabelled_error(window: Window, name: str) -> Finding | None:
    """The error printed above without a severity, indented below its location."""
    above = [*window.before]
    for begin in range(len(above) - 1, max(len(above) - 1 - _MOST_TEXT, 0), -1):
        if locations := location_above(above[:begin]):
            words = above[begin:]
            if any(_indentation(line) <= _indentation(above[begin - 1]) for line in words):
                return None
            text = " ".join(line.strip() for line in words)
            message = f"{text}\n{window.line.strip()}"
            return finding(window, Kind.MLIR_DIAGNOSTIC, text, message, locations=locations, pass_name=name)
    return None


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _read(window: Window) -> Finding | None:
    line = window.line.strip()
    if stated := _STATED.search(line):
        return finding(window, Kind.MLIR_DIAGNOSTIC, stated["text"], pass_name=stated["name"])
    name = failed_pass(line, window.after)
    if name is not None and (error := _unlabelled_error(window, name)):
        return error
    if name is None and _RAISED.search(line) is None:
        return None
    exception = "RuntimeError" if _RUN in line else None
    location = _PLACE.search(line)
    source = SourceLocation(location["file"], int(location["line"]), int(location["column"])) if location else None
    above = () if source or _RUN in line else location_above(window.before)
    return finding(
        window,
        Kind.MLIR_DIAGNOSTIC,
        headline(name),
        line,
        Specificity.TAIL,
        locations=(source,) if source else above,
        pass_name=name,
        exception=exception,
    )


RECOGNISER = Recogniser(
    anchors=(_PIPELINE, _RUN),
    read=_read,
    examples={
        "RuntimeError: PassManager::run failed": Kind.MLIR_DIAGNOSTIC,
        "!!! Exception during processing !!! PassManager::run failed": Kind.MLIR_DIAGNOSTIC,
        "Pipeline failed while executing TritonGPUAllocateWarpGroups": Kind.MLIR_DIAGNOSTIC,
    },
)
