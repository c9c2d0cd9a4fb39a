"""The diagnosis of a kernel's module that could not be imported: the user's own code failed before there was a kernel,
and nothing is the compiler's doing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from triage.logs import text
from triage.logs.finding import bounded_diagnosis
from triage.logs.patterns import regex
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation
from triage.model.outcome import Outcome, Status

_STACK = "(most recent call first):\n"
"""How Python's faulthandler heads a stack."""
_STACK_FRAME = regex(r'  File "([^"\n]{1,4096})", line (\d{1,9}) in ')
_MOST_FRAMES = 100
"""As many as faulthandler writes."""
_FILE = "the kernel's file"
_NOT_THE_USERS = ("/harness/worker/", "site-packages/", "dist-packages/", "/lib/python", "<")


def failed_import(outcome: Outcome, kernel: Path | None) -> Diagnosis:
    """The diagnosis, without its signature. ``kernel`` is the module's file, if available."""
    kind, how, message = _ending(outcome)
    exception = outcome.errors[0].type if outcome.errors else None
    source = _source(outcome, kernel)
    headline = f"Importing {kernel.name if kernel else _FILE} {how}{_where(source, kernel, how)}"
    return bounded_diagnosis(kind, headline, message or f"importing {_FILE} {how}", exception=exception, source=source)


def _where(source: SourceLocation | None, kernel: Path | None, how: str) -> str:
    """The line, in parentheses; nothing where the error names it."""
    if source is None or how.endswith(f"line {source.line})"):
        return ""
    return f" (line {source.line})" if kernel and source.file == kernel.name else f" ({source.file}:{source.line})"


def _ending(outcome: Outcome) -> tuple[Kind, str, str]:
    """The kind, how it ended as a clause, and the failing text if there is one."""
    match outcome.status:
        case Status.TIMEOUT:
            return Kind.TIMEOUT, f"did not end within {outcome.limit_s:g} s", ""
        case Status.OUT_OF_MEMORY:
            limit = f" of {outcome.limit_bytes / 2**30:.3g} GiB" if outcome.limit_bytes else ""
            return Kind.OUT_OF_MEMORY, f"needed more memory than its limit{limit}", ""
        case Status.CRASH if outcome.killed_from_outside:
            return Kind.KILLED, f"was killed from outside by {outcome.signal}", ""
        case Status.CRASH:
            return (
                Kind.OTHER,
                f"died of {outcome.signal}" if outcome.signal else f"called exit({outcome.exit_code})",
                "",
            )
    first = outcome.errors[0]
    error = f"{first.type}: {first.message}".rstrip(": \n")
    return Kind.PYTHON_EXCEPTION, f"raised {error}", error


def _source(outcome: Outcome, kernel: Path | None) -> SourceLocation | None:
    """The innermost line of the user's own."""
    own = str(kernel.resolve()) if kernel else None
    for location in _stack(outcome):
        if location.file == own or not any(part in location.file for part in _NOT_THE_USERS):
            return replace(location, file=text.last_component(location.file))
    return None


def _stack(outcome: Outcome) -> Iterator[SourceLocation]:
    """The frames at the end, innermost first."""
    for error in outcome.errors:
        for frame in reversed(error.frames):
            yield SourceLocation(frame.file, frame.line, None, frame.text.strip() or None)
    _, _, stack = outcome.log.rpartition(_STACK)
    for line in stack.split("\n", _MOST_FRAMES)[:_MOST_FRAMES]:
        if (printed := _STACK_FRAME.match(line)) is not None:
            yield SourceLocation(printed[1], int(printed[2]))
