"""An error with a location in the user's kernel, as MLIR's passes and verifiers print it.

``kernel.py:3:4: error: 'tt.dot' op …``, followed by the line, a caret and notes. Both spellings of the location, and
of call chains, are parsed by `triage.logs.diagnostic_lines`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from triage.ir.locations import aliases, resolved
from triage.logs.cute_texts import EXCEPTION, OF_PACKAGE
from triage.logs.diagnostic_lines import (
    SYMPTOMS,
    TAILS,
    DiagnosticLine,
    added_location,
    begins_with_any,
    is_caret,
    location_above,
    location_below,
    parse,
)
from triage.logs.finding import Finding, Specificity
from triage.logs.frontend_texts import is_frontends
from triage.logs.patterns import regex
from triage.logs.recognisers.base import Recogniser, finding
from triage.logs.window import Window
from triage.model.compilers import CUTE
from triage.model.diagnosis import Diagnosis, Kind, SourceLocation

# Other tools write `file:1:2: error: text`: mypy (`text  [code]`), and compilers of languages without kernels.
_OF_LINTER = regex(r"  \[[a-z][a-z-]{1,40}\]$")
_NOT_A_KERNEL = regex(r"\.(?:c|cc|cpp|cxx|cu|h|hpp|hip|inc|rs|go|js|ts|java|proto|ya?ml|toml|json|sh)$", re.IGNORECASE)
_CALL = "called from"
_OF_VERIFIER = regex(r"'[a-z]\w{0,60}\.[\w.]{1,100}' op ")
# An error that names none may be of any program, which has files of Python as well.
_OPERATION = regex(r"'[a-z]\w{0,60}\.[a-z][\w.]{0,100}'")
# What CuTe DSL's exceptions say above the errors that they list, and the stage in which those are found.
_LISTED = (("Verification failed:", "verify"), ("Failure while executing pass pipeline:", "passes"))
# `loc(#loc7)` as an error's location, and at the end of the operation that a note shows.
_AT_BEGINNING = regex(r"\s{0,80}loc\((?P<location>#loc\w{0,20})\):")
_AT_END = regex(r"\bloc\((?P<location>#loc\w{0,20}|[\"cf](?:(?!\bloc\().){1,2000})\)\s{0,8}$")
# What no error's text begins with.
_BEGINS = ("Traceback ", "File ", "```", "~~~", "#", "//", "{-#", "module ")
_OF_PYTHON = regex(r": [A-Z]\w{2,60}(?:Error|Exception): ")


def _block(after: Sequence[str]) -> tuple[str | None, list[DiagnosticLine], list[str]]:
    """What follows a diagnostic: the line of source that it shows, its notes, and all these lines."""
    excerpt: str | None = None
    notes: list[DiagnosticLine] = []
    lines: list[str] = []
    index = 0
    while index < len(after):
        if index + 1 < len(after) and is_caret(after[index + 1]):
            if not notes:
                excerpt = after[index].rstrip()
            lines += [after[index], after[index + 1]]
            index += 2
            continue
        note = parse(after[index].lstrip())  # MLIR's binding for Python indents its notes
        if note is None or note.severity != "note":
            break
        notes.append(note)
        lines.append(after[index])
        index += 1
    return excerpt, notes, lines


def _specificity(error: str) -> Specificity:
    if begins_with_any(error, TAILS):
        return Specificity.TAIL
    return Specificity.SYMPTOM if error.startswith(SYMPTOMS) else Specificity.DIAGNOSTIC


def _stage(window: Window) -> str | None:
    """The stage of CuTe DSL's in which an error stands that its exception lists."""
    for above in reversed(window.before):
        for words, stage in _LISTED:
            if above.rstrip().endswith(words):
                return stage
    return None


def _lists(line: str) -> bool:
    """True for an exception of CuTe DSL's above the errors that it lists; other packages bind MLIR too."""
    stated = EXCEPTION.match(line.strip())
    is_own = stated is not None and ("." not in line[: stated.start("name")] or "cutlass" in line)
    return is_own and line.rstrip().endswith(tuple(words for words, _ in _LISTED))


def stage_of_cute(diagnosis: Diagnosis) -> str | None:
    """The stage of an error of CuTe DSL's that stands alone: the verifier's begin with the operation, and others are
    of building an operation."""
    if diagnosis.compiler is not CUTE or diagnosis.kind is not Kind.MLIR_DIAGNOSTIC:
        return None
    return "verify" if _OF_VERIFIER.match(diagnosis.headline) else "trace"


def _of_another_tool(diagnostic: DiagnosticLine) -> bool:
    if not diagnostic.locations:
        return False
    linter = _OF_LINTER.search(diagnostic.text) is not None
    return linter or any(_NOT_A_KERNEL.search(location.file) for location in diagnostic.locations)


def _of_operation(line: str, notes: Sequence[DiagnosticLine], window: Window) -> tuple[SourceLocation, ...]:
    """Where the operation is whose error has no location itself: what the line above it states, an alias defined
    nearby, its note, or the operation that this shows."""
    if above := location_above(window.before):
        return above
    own = next((note for note in notes if not note.text.startswith(_CALL)), None)
    if own and own.locations:
        return own.locations
    stated = _AT_END.search(own.text) if own else _AT_BEGINNING.match(line)
    if stated is None:
        return ()
    known = aliases("\n".join([*window.before, *window.after])) if "#loc" in stated["location"] else {}
    return tuple(resolved(stated["location"], known))


def _is_text(line: str) -> bool:
    """True for a line that may be the text of an error: no diagnostic, traceback, module or fence."""
    return bool(line.strip()) and parse(line) is None and not line.startswith(_BEGINS)


def _joined(window: Window) -> tuple[str, Sequence[str]]:
    """The line, and those after it; where it breaks off at the severity, with the text that is indented below, and
    within words that are known with the rest of them."""
    below = window.after[0] if window.after else ""
    whole = f"{window.line.rstrip()} {below.strip()}"
    ends_at_severity = window.line.rstrip().endswith(": error:") and (
        below.startswith((" ", "\t")) or (bool(location_above([window.line])) and _is_text(below))
    )
    if ends_at_severity or any(tail in whole and tail not in window.line and tail not in below for tail in TAILS):
        return whole, list(islice(window.after, 1, None))
    return window.line, window.after


def _read(window: Window) -> Finding | None:
    line, after = _joined(window)
    error = parse(line)
    if error is None or error.severity != "error" or not error.text or _of_another_tool(error):
        return None
    if not error.locations and _OF_PYTHON.search(error.text):
        return None  # of a program that passes it on
    if not error.locations and is_frontends(error.text):
        # The text of a front-end's exception, quoted behind `error:`.
        return finding(window, Kind.FRONTEND_ERROR, error.text, error.text, stage="source")
    excerpt, notes, lines = _block(after)
    is_bare = not error.locations and _OPERATION.search(error.text) is not None
    if is_bare and (added := added_location(window.line) or location_below(window, len(lines))):
        error = replace(error, locations=(added,))
    if not error.locations:
        error = replace(error, locations=_of_operation(line, notes, window))
    calls = tuple(location for note in notes if note.text.startswith(_CALL) for location in note.locations)
    # Of the DSL's own files no line is the user's.
    locations = tuple(location for location in error.locations + calls if not OF_PACKAGE.search(location.file))
    if locations and excerpt:
        locations = (replace(locations[0], text=excerpt), *locations[1:])
    return finding(
        window,
        Kind.MLIR_DIAGNOSTIC,
        error.text,
        "\n".join([line.strip(), *lines]),
        _specificity(error.text),
        locations=locations,
        notes=[note.text for note in notes if not note.text.startswith(_CALL)],
        extent=len(lines) + len(window.after) - len(after),
        stage=_stage(window),
        compiler=CUTE if window.before and _lists(window.before[-1]) else None,
    )


RECOGNISER = Recogniser(
    anchors=("error:",),
    read=_read,
    examples={
        "loc(\"k.py\":3:4): error: 'tt.dot' op bad": Kind.MLIR_DIAGNOSTIC,
        "k.py:3:4: error: 'tt.dot' op bad": Kind.MLIR_DIAGNOSTIC,
        "k.py:3:0: error: Failures have been detected while\nprocessing an MLIR pass pipeline": Kind.MLIR_DIAGNOSTIC,
        "loc(unknown): error: 'tt.dot' op bad": Kind.MLIR_DIAGNOSTIC,
        "error: 'cute.copy' op src ptr alignment (64 bits) does not meet requirement (128 bits)": Kind.MLIR_DIAGNOSTIC,
        "error: Maximum allowed number of elements is 1048576, but %6 has more than that": Kind.MLIR_DIAGNOSTIC,
        "error: fp8e4nv data type is not supported on CUDA arch < 89": Kind.FRONTEND_ERROR,
    },
)
