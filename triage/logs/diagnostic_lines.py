"""Lines of diagnostics as MLIR and LLVM print them: location, severity, text.

Releases up to 3.2 print ``loc("kernel.py":3:4): error: text``, later ones ``kernel.py:3:4: error: text`` with
the line and a caret below; notes follow. A call chain is ``loc(callsite("standard.py":256:15 at
"kernel.py":20:24))`` in the first spelling and ``kernel.py:20:18: note: called from`` in the second.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from triage.ir.locations import printed_locations
from triage.logs.patterns import regex
from triage.logs.window import Window
from triage.model.diagnosis import SourceLocation

_SEVERITY = regex(r"(?:^|(?<=: ))(error|warning|note|remark): ")
# mlir-opt's --split-input-file: the line is counted from that of the file at which its part begins.
_SPLIT = regex(
    r"within split at (?P<file>\S{1,1000}):(?P<begin>\d{1,7}) offset :(?P<line>\d{1,7}):(?P<column>\d{1,7}): ?$"
)
_PLAIN = regex(
    r"(?P<file>[^\s:\"](?:[^:\"]{0,999}[^\s:\"])?|[A-Za-z]:[\\/][^:\"]{1,1000})"
    r":(?P<line>\d{1,7})(?::(?P<column>\d{1,7}))?:? ?$"
)
_UNKNOWN_LOCATION = regex(r"(?:<unknown>:0(?::0)?:|loc\(unknown\):|loc\(.{1,4000}\):) ?$")
# MLIR's Python binding prints the location after the severity. In CuTe DSL's locations the name is the text of the
# statement, and columns count from 0; column 0 also stands for a whole function.
_LOCATION_AFTER = regex(
    r'(?P<locations>(?:"(?:[^"\\]|\\.){0,1000}"\()?'
    r'(?:"[^"]{1,1000}":\d{1,7}:\d{1,7}\)?|(?:callsite\(|fused[<\[])(?:[^:]|:(?! )){1,4000})): ?'
)
# `loc("x"("kernel.py":3:4)):` or `kernel.py:3:4: error:`, with the text on the lines below.
_ALONE = regex(
    r"\s{0,80}(?:# )?(?P<head>loc\(.{1,4000}\)|(?:[A-Za-z]:[\\/])?[^\s:\"]{1,400}\.py:\d{1,7}:\d{1,7}):"
    r"(?: (?:error|note):)?\s{0,8}$"
)
_UNKNOWN_AFTER = "unknown: "
# As users add it, below a quotation or at its end: `(package/kernel.py:31)`, `at kernel.py:31:5`.
_ADDED = regex(
    r"(?:^|(?<=\s))(?:\((?:at |in |from )?|at )"
    r"(?P<file>[^\s():\"'`]{1,400}\.py):(?P<line>\d{1,7})(?::(?P<column>\d{1,7}))?\)?$"
)
_CARET = regex(r"^\s{0,4096}\^~{0,4096}\s*$")

#: Errors that say only that something failed.
TAILS = (
    "Failures have been detected while processing an MLIR pass pipeline",
    "A failure has been detected while processing the MLIR module",
    "An error happened while serializing the module",
    "Failed translating the module to ISA",
    "Failed to run BiSheng",  # Ascend's pipelines: BiShengHIR, BiShengSIMD
)
#: Errors that name a consequence and the operation, not the cause.
SYMPTOMS = (
    "failed to legalize operation",
    "failed to legalize unresolved materialization",
    "LLVM Translation failed for operation",
    "missing `llvm.emit_c_interface`",
    "Failed to run ",  # a pipeline
)


#: Minimum length of a truncated text that still identifies it.
_SHORTEST_TAIL = 16


def begins_with_any(error: str, texts: Iterable[str]) -> bool:
    """Whether an error begins with one of the texts, or is the beginning of one, cut off."""
    cut = error.rstrip(" .…`'\"")
    return any(error.startswith(text) or (len(cut) >= _SHORTEST_TAIL and text.startswith(cut)) for text in texts)


@dataclass(frozen=True, slots=True)
class DiagnosticLine:
    """The parts of a diagnostic's line; ``locations`` are innermost first."""

    severity: str
    text: str
    locations: tuple[SourceLocation, ...] = ()


def _locations(head: str) -> tuple[SourceLocation, ...] | None:
    """The locations before the severity, innermost first; None when that text is not a location."""
    if not head:
        return ()
    if head.startswith(("loc(", '"')):
        return printed_locations(head) or (() if _UNKNOWN_LOCATION.match(head) else None)
    if _UNKNOWN_LOCATION.match(head):
        return ()
    if split := _SPLIT.match(head):
        return (SourceLocation(split["file"], int(split["begin"]) + int(split["line"]) - 1, int(split["column"])),)
    if plain := _PLAIN.match(head):
        column = int(plain["column"]) if plain["column"] else None
        return (SourceLocation(plain["file"], int(plain["line"]), column),)
    return None


def parse(line: str) -> DiagnosticLine | None:
    """The parts of a line; None when it is not a diagnostic."""
    severity = _SEVERITY.search(line)
    if severity is None:
        return None
    locations = _locations(line[: severity.start()].lstrip())
    if locations is None:
        return None
    text = line[severity.end() :].strip()
    if after := _LOCATION_AFTER.match(text):
        trailing = printed_locations(after["locations"])
        locations = (*locations, *(replace(at, column=at.column + 1 if at.column else None) for at in trailing))
        text = text[after.end() :]
    text = text.removeprefix(_UNKNOWN_AFTER)
    return DiagnosticLine(severity.group(1), text, locations)


def location_above(lines: Sequence[str]) -> tuple[SourceLocation, ...]:
    """The locations on the last line, innermost first, if it has nothing else but a final colon."""
    alone = _ALONE.match(lines[-1]) if lines else None
    return (_locations(alone["head"]) or ()) if alone else ()


def added_location(line: str) -> SourceLocation | None:
    """The Python source location that is the whole line, or stands in parentheses at its end."""
    stripped = line.strip()
    added = _ADDED.search(stripped)
    if added is None or not (added.start() == 0 or stripped.endswith(")")):
        return None
    return SourceLocation(added["file"], int(added["line"]), int(added["column"]) if added["column"] else None)


def location_below(window: Window, distance: int) -> SourceLocation | None:
    """The location that stands alone below a diagnostic and its notes."""
    below = window.after[distance] if distance < len(window.after) else ""
    return added_location(below) if below.strip().startswith(("(", "at ")) else None


def is_caret(line: str) -> bool:
    """True for a line that only points at the one above it."""
    return _CARET.match(line) is not None


def error_before(window: Window) -> DiagnosticLine | None:
    """The nearest error that is printed before a line and names a cause, with the locations of its calls."""
    calls: tuple[SourceLocation, ...] = ()
    for distance in range(1, len(window.before) + 1):
        diagnostic = parse(window.before[-distance])
        if diagnostic is None:
            continue
        if diagnostic.severity == "error" and not diagnostic.text.startswith((*TAILS, *SYMPTOMS)):
            return DiagnosticLine("error", diagnostic.text, diagnostic.locations + calls)
        if diagnostic.text.startswith("called from"):
            calls = diagnostic.locations + calls
    return None
