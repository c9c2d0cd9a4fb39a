"""A traceback that breaks off before its exception, in a text that says nothing else of a failure."""

from collections.abc import Sequence

from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.patterns import regex
from triage.logs.recognisers import environment
from triage.logs.user_frames import frame_file, is_arrow
from triage.model.diagnosis import Kind

# IPython states the exception's name above the frames.
_HEADER = regex(r"(?P<name>[A-Z]\w{2,80})\s{2,80}Traceback \(most recent call last\)$")
# The last frame's source may name it.
_RAISED = regex(r"\s{1,40}raise (?:[a-z_]\w{0,60}\.){0,6}(?P<name>[A-Z]\w{2,80})\b")
#: Lines that a frame shows of its source, at the end of a text.
_LAST = 4


def cut_traceback(lines: Sequence[str]) -> Finding | None:
    """The exception that the last lines were on the way to; None where they are not of a traceback."""
    frame = next((index for index in range(len(lines))[-_LAST:][::-1] if frame_file(lines[index])), None)
    if frame is None:
        return None
    header = next(filter(None, map(_HEADER.match, reversed(lines))), None)
    named = header or next(filter(None, map(_RAISED.match, lines[frame:])), None)
    exception = named["name"] if named else None
    message = "\n".join([*([header.group()] if header else []), *lines[frame:]])
    kind, headline = Kind.PYTHON_EXCEPTION, f"{exception or 'An exception'}; the traceback breaks off before its text"
    if exception == "CalledProcessError" and any(map(environment.builds_launcher, lines)):
        kind, headline = Kind.ENVIRONMENT, f"{exception}: {environment.UNEXPLAINED}"
    diagnosis = bounded_diagnosis(kind, headline, message, exception=exception)
    return Finding(diagnosis, Specificity.TAIL, len(lines) - 1)


def is_of_traceback(line: str) -> bool:
    """True for a frame, and for a line of source that one shows."""
    return line.startswith("    ") or frame_file(line) is not None or is_arrow(line)
