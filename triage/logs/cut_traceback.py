"""A traceback that breaks off before its exception, in a text that says nothing else of a failure."""

from collections.abc import Sequence

from triage.logs.finding import Finding, Specificity, bounded_diagnosis
from triage.logs.patterns import regex
from triage.logs.text import last_component
from triage.logs.user_frames import frame_file, is_arrow
from triage.model.diagnosis import Kind

# IPython states the exception's name above the frames.
_HEADER = regex(r"(?P<name>[A-Z]\w{2,80})\s{2,80}Traceback \(most recent call last\)$")
# The fault handler's frames have no comma before the function, and the innermost comes first.
_OF_CRASH = regex(r'\s{0,8}File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,7}) in (?P<function>[\w<>.]{1,200})')
#: Lines that a frame shows of its source, at the end of a text.
_LAST = 4


def cut_traceback(lines: Sequence[str]) -> Finding | None:
    """The exception that the last lines were on the way to; None where they are not of a traceback."""
    frame = next((index for index in range(len(lines))[-_LAST:][::-1] if frame_file(lines[index])), None)
    if frame is None:
        return None
    if crash := next(filter(None, map(_OF_CRASH.match, lines)), None):
        file, line, function = last_component(crash["file"]), int(crash["line"]), crash["function"]
        headline = f"The process stopped in {function}, {file}:{line}"
        place = {"file": file, "line": line, "function": function}
        diagnosis = bounded_diagnosis(Kind.UNKNOWN, headline, "\n".join(lines[frame:]), **place)
        return Finding(diagnosis, Specificity.TAIL, len(lines) - 1)
    header = next(filter(None, map(_HEADER.match, reversed(lines))), None)
    headline = f"{header['name'] if header else 'An exception'}; the traceback breaks off before its text"
    message = "\n".join([*([header.group()] if header else []), *lines[frame:]])
    diagnosis = bounded_diagnosis(
        Kind.PYTHON_EXCEPTION, headline, message, exception=header["name"] if header else None
    )
    return Finding(diagnosis, Specificity.TAIL, len(lines) - 1)


def is_of_traceback(line: str) -> bool:
    """True for a frame, and for a line of source that one shows."""
    return line.startswith("    ") or frame_file(line) is not None or is_arrow(line)
