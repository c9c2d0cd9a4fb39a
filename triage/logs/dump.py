"""The IR that was printed last before a failure, and what it tells: which operation was being lowered, and the
user's line that it came from.

A crash names a C++ function, not a line of the kernel. But ``ConvertLayoutOpConversion::lower…`` in
``convert-triton-gpu-to-llvm`` was at a ``ttg.convert_layout``, and the dump before that pass says where each
stands. Only what is certain is named: an operation that the failure's own words name, and a line when all such
operations came from it.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace

from triage.logs.recognisers.mlir_diagnostic import users_place
from triage.model.diagnosis import Diagnosis, SourceLocation

_QUOTED = re.compile(r"'([a-z]\w{0,40}\.[\w.]{1,80})'(?: op\b)?")
_PRINTED = re.compile(r"%[\w#:, %]{1,200} = \"?([a-z]\w{0,40}\.[\w.]{1,80})")
# `%5 = tt.load %4 …`, `tt.store …`, `"tt.reduce"(…) …`; the location stands at the end of the line, or of a region's.
_OPERATION = re.compile(rb"^ {1,200}(?:%[\w#:, %]{1,200} = )?\"?([a-z]\w{0,40}\.[\w.]{1,80})\"?[ (]", re.MULTILINE)
_LOCATION = re.compile(rb" loc\((#\w{1,40}|[^\n]{1,2000})\)$")
_ALIAS = re.compile(rb"^(#loc\w{0,20}) = loc\((.{1,2000})\)$", re.MULTILINE)
_PLACE = re.compile(r'"([^"]{1,1000})":(\d{1,7}):(\d{1,7})')
_REFERENCE = re.compile(r"#loc\w{0,20}")
#: Dialects of the structure around a kernel; what is lowered is never one of their operations.
_STRUCTURE = (b"builtin.", b"module.", b"scf.yield", b"tt.func", b"tt.return")
#: More lines than these would be no answer.
_MOST_LINES = 4


@dataclass(slots=True)
class Dump:
    """The text after one ``IR Dump`` header. Of a large one the beginning and the end are kept."""

    #: (block, from where, up to where): no copies.
    _first: list[tuple[bytes, int]] = field(default_factory=list)
    # The aliases of locations stand at the end.
    _last: deque[tuple[bytes, int]] = field(default_factory=lambda: deque(maxlen=8))
    #: How often it may still be read: a flood of failures does not read megabytes for each.
    readings: int = 3

    def add(self, block: bytes, start: int) -> None:
        """Take a block from ``start`` on."""
        if len(self._first) < 8:
            self._first.append((block, start))
        else:
            self._last.append((block, start))

    def text(self) -> bytes:
        """What is kept of the dump, up to the next header."""
        return b"".join(block[start:] for block, start in (*self._first, *self._last))


def _camel(operation: str) -> str:
    """``ttg.convert_layout`` -> ``ConvertLayout``."""
    return "".join(part.capitalize() for part in operation.rpartition(".")[2].split("_"))


def _named_by(diagnosis: Diagnosis, operations: set[str]) -> str | None:
    """The operation that the failure's message, function or file names."""
    for pattern in (_QUOTED, _PRINTED):
        for named in pattern.findall(diagnosis.message):
            if named in operations:
                return str(named)
    for where in (diagnosis.function, diagnosis.file):
        fitting = [name for name in operations if len(_camel(name)) > 2 and _names(where or "", _camel(name))]
        if fitting:
            longest = max(len(_camel(name)) for name in fitting)
            best = [name for name in fitting if len(_camel(name)) == longest]
            return best[0] if len(best) == 1 else None
    return None


def _names(where: str, camel: str) -> bool:
    """True where a C++ name speaks of the operation: ``ReduceOpConversion``, ``ReduceOpToLLVM.cpp``, ``convertDot``."""
    return f"{camel}Op" in where or where.rpartition("::")[2] in (f"convert{camel}", f"lower{camel}")


def _resolve(location: str, aliases: dict[str, str], depth: int = 0) -> list[SourceLocation]:
    """The places that a location names, innermost first; aliases refer to each other, so they are followed a little."""
    places: list[SourceLocation] = []
    for reference in re.split(f"({_REFERENCE.pattern})", location):
        if reference.startswith("#loc"):
            places += _resolve(aliases.get(reference, ""), aliases, depth + 1) if depth < 8 and len(places) < 16 else []
        else:
            places += [SourceLocation(file, int(line), int(column)) for file, line, column in _PLACE.findall(reference)]
    return places


@dataclass(frozen=True, slots=True)
class Lowering:
    """The operation that was being lowered, and where the user wrote it: several places when any of them may be it."""

    operation: str
    places: tuple[SourceLocation, ...]


def lowering(diagnosis: Diagnosis, dump: Dump) -> Lowering | None:
    """What was being lowered when the failure was printed; None where nothing names it."""
    if not dump.readings:
        return None
    dump.readings -= 1
    text = dump.text().partition(b"IR Dump Before ")[2].partition(b"// -----// IR Dump")[0]
    lines = [(match.group(1), match.start()) for match in _OPERATION.finditer(text)]
    operations = {name.decode() for name, _ in lines if not name.startswith(_STRUCTURE)}
    operation = _named_by(diagnosis, operations)
    if operation is None:
        return None
    aliases = {alias.decode(): body.decode("utf-8", "replace") for alias, body in reversed(_ALIAS.findall(text))}
    places: dict[tuple[str, int], SourceLocation] = {}
    for name, start in lines:
        if name.decode() == operation and (place := _place(text, start, aliases)):
            places.setdefault((place.file, place.line), place)
    return Lowering(operation, tuple(places.values()))


def _line_at(text: bytes, start: int) -> bytes:
    end = text.find(b"\n", start)
    return text[start : end if end >= 0 else None]


def _place(text: bytes, start: int, aliases: dict[str, str]) -> SourceLocation | None:
    """Where an operation comes from; one with a region has that after the region's end."""
    line = _line_at(text, start)
    if line.endswith(b"({"):
        indentation = line[: len(line) - len(line.lstrip())]
        end = text.find(b"\n" + indentation + b"})", start)
        line = _line_at(text, end + 1) if end >= 0 else b""
    location = _LOCATION.search(line)
    return users_place(_resolve(location.group(1).decode("utf-8", "replace"), aliases)) if location else None


def with_lowering(diagnosis: Diagnosis, found: Lowering) -> Diagnosis:
    """The diagnosis with what the dump adds: the user's line where it is certain, and a note."""
    places = found.places
    source = places[0] if len(places) == 1 and diagnosis.source is None else diagnosis.source
    if diagnosis.source is not None:
        places = ()  # what the compiler said is more certain than what is found here
    shown = ", ".join(f"{place.file.rpartition('/')[2]}:{place.line}" for place in places[:_MOST_LINES])
    at = f" ({shown}{', …' if len(places) > _MOST_LINES else ''})" if shown else ""
    return replace(diagnosis, source=source, notes=(*diagnosis.notes, f"while lowering {found.operation}{at}"))
