"""A diagnostic with a place in the user's kernel: what MLIR's passes and verifiers print.

Releases up to 3.2 print ``loc("kernel.py":3:4): error: text``, later ones ``kernel.py:3:4: error: text`` with
the line and a caret below; notes follow. A call chain is ``loc(callsite("standard.py":256:15 at
"kernel.py":20:24))`` in the first spelling and ``kernel.py:20:18: note: called from`` in the second.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from triage.ir.locations import printed_locations, users_location
from triage.logs import text
from triage.logs.finding import Finding, Specificity
from triage.logs.frontend_texts import is_frontends
from triage.logs.recognisers.base import Recogniser
from triage.logs.window import Window
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation

_SEVERITY = re.compile(r"(?:^|(?<=: ))(error|warning|note|remark): ")
_PLAIN = re.compile(
    r"(?P<file>[^\s:\"](?:[^:\"]{0,999}[^\s:\"])?|[A-Za-z]:[\\/][^:\"]{1,1000})"
    r":(?P<line>\d{1,7})(?::(?P<column>\d{1,7}))?:? ?$"
)
_UNKNOWN_PLACE = re.compile(r"(?:<unknown>:0(?::0)?:|loc\(unknown\):|loc\(.{1,4000}\):) ?$")
# CuTe DSL prints the operation's name as a location after the severity.
_PLACE_AFTER = re.compile(r'"[^"]{0,200}"\("([^"]{1,1000})":(\d{1,7}):(\d{1,7})\): ')
_CARET = re.compile(r"^\s{0,4096}\^~{0,4096}\s*$")

#: Says only that something failed.
TAILS = (
    "Failures have been detected while processing an MLIR pass pipeline",
    "A failure has been detected while processing the MLIR module",
)
#: Names a consequence and the operation, not the cause.
SYMPTOMS = (
    "failed to legalize operation",
    "failed to legalize unresolved materialization",
    "LLVM Translation failed for operation",
    "missing `llvm.emit_c_interface`",
)
# Others who write `file:1:2: error: text`: mypy (`text  [code]`), and compilers of what no kernel is written in.
_OF_LINTER = re.compile(r"  \[[a-z][a-z-]{1,40}\]$")
_NO_KERNEL = re.compile(
    r"\.(?:c|cc|cpp|cxx|cu|h|hpp|hip|inc|rs|go|js|ts|java|proto|ya?ml|toml|json|sh)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Located:
    """One diagnostic line, taken apart."""

    severity: str
    text: str
    locations: tuple[SourceLocation, ...] = ()


def _locations(head: str) -> tuple[SourceLocation, ...] | None:
    """The locations before the severity, innermost first; None when that is no location at all."""
    if not head:
        return ()
    if head.startswith(("loc(", '"')):
        return printed_locations(head) or (() if _UNKNOWN_PLACE.match(head) else None)
    if _UNKNOWN_PLACE.match(head):
        return ()
    if plain := _PLAIN.match(head):
        column = int(plain["column"]) if plain["column"] else None
        return (SourceLocation(plain["file"], int(plain["line"]), column),)
    return None


def split(line: str) -> Located | None:
    """Take a diagnostic line apart; None when it is none."""
    severity = _SEVERITY.search(line)
    if severity is None:
        return None
    locations = _locations(line[: severity.start()].lstrip())
    if locations is None:
        return None
    words = line[severity.end() :].strip()
    if after := _PLACE_AFTER.match(words):
        locations = (*locations, SourceLocation(after.group(1), int(after.group(2)), int(after.group(3))))
        words = words[after.end() :]
    return Located(severity.group(1), words, locations)


def is_caret(line: str) -> bool:
    """True for a line that only points at the one above it."""
    return _CARET.match(line) is not None


@dataclass(frozen=True, slots=True)
class _Block:
    """What follows a diagnostic: the excerpt it shows, and its notes."""

    excerpt: str | None
    notes: tuple[Located, ...]
    lines: tuple[str, ...]


def _block(after: Sequence[str]) -> _Block:
    excerpt: str | None = None
    notes: list[Located] = []
    taken: list[str] = []
    index = 0
    while index < len(after):
        if index + 1 < len(after) and is_caret(after[index + 1]):
            if not notes:
                excerpt = after[index].rstrip()
            taken += [after[index], after[index + 1]]
            index += 2
            continue
        note = split(after[index])
        if note is None or note.severity != "note":
            break
        notes.append(note)
        taken.append(after[index])
        index += 1
    return _Block(excerpt, tuple(notes), tuple(taken))


def error_before(window: Window) -> tuple[str, tuple[SourceLocation, ...]] | None:
    """The nearest error printed before, if it is within sight, and the locations that it and its calls name."""
    calls: tuple[SourceLocation, ...] = ()
    for distance in range(1, len(window.before) + 1):
        diagnostic = split(window.before[-distance])
        if diagnostic is None:
            continue
        if diagnostic.severity == "error" and not diagnostic.text.startswith((*TAILS, *SYMPTOMS)):
            return diagnostic.text, diagnostic.locations + calls
        if diagnostic.text.startswith("called from"):
            calls = diagnostic.locations + calls
    return None


def _specificity(words: str) -> Specificity:
    if words.startswith(TAILS):
        return Specificity.TAIL
    return Specificity.SYMPTOM if words.startswith(SYMPTOMS) else Specificity.DIAGNOSTIC


def _is_somebody_elses(located: Located) -> bool:
    if not located.locations:
        return False
    return _OF_LINTER.search(located.text) is not None or any(
        _NO_KERNEL.search(place.file) for place in located.locations
    )


def _read(window: Window) -> Finding | None:
    located = split(window.line)
    if located is None or located.severity != "error" or not located.text or _is_somebody_elses(located):
        return None
    if not located.locations and is_frontends(located.text):
        # Quoted from a front-end's exception by somebody who put `error:` before it.
        return Finding(
            Diagnosis(
                kind=Kind.FRONTEND_ERROR,
                headline=text.headline(located.text),
                message=text.message(located.text),
                stage="source",
            ),
            Specificity.DIAGNOSTIC,
            window.position,
        )
    block = _block(window.after)
    calls = tuple(place for note in block.notes if note.text.startswith("called from") for place in note.locations)
    locations = located.locations + calls
    if locations and block.excerpt:
        first = locations[0]
        locations = (SourceLocation(first.file, first.line, first.column, block.excerpt), *locations[1:])
    diagnosis = Diagnosis(
        kind=Kind.MLIR_DIAGNOSTIC,
        headline=text.headline(located.text),
        message=text.message("\n".join([window.line.strip(), *block.lines])),
        source=users_location(locations),
        notes=text.notes([note.text for note in block.notes if not note.text.startswith("called from")]),
    )
    return Finding(diagnosis, _specificity(located.text), window.position, locations, extent=len(block.lines))


RECOGNISER = Recogniser("mlir-diagnostic", ("error: ",), _read)
