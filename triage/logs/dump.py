"""The IR that was dumped last before a failure, and the operation that was being lowered, with the user's line.

A crash names a C++ function, not a line of the kernel. But ``ConvertLayoutOpConversion::lower…`` in
``convert-triton-gpu-to-llvm`` was lowering a ``ttg.convert_layout``, and the dump before that pass has the location of
each. Only what is certain is reported: an operation that the failure's own words name, and a line when all such
operations come from it.
"""

from collections import deque
from dataclasses import dataclass, field, replace

from triage.ir import passes
from triage.ir.operations import Operations, named_in_cpp, named_in_message
from triage.model.diagnosis import Diagnosis, SourceLocation

#: Operations that structure a kernel and are never the one being lowered.
_STRUCTURE = ("builtin.", "module.", "scf.yield", "tt.func", "tt.return")
#: More lines than these would be no answer.
_MOST_LINES = 4


@dataclass(slots=True)
class Dump:
    """The text after the header of one dump. Of a large one only the beginning and the end are kept."""

    #: Blocks of the log, each with the offset at which the dump begins in it: no copies.
    _first: list[tuple[bytes, int]] = field(default_factory=list)
    # The aliases of locations are printed at the end.
    _last: deque[tuple[bytes, int]] = field(default_factory=lambda: deque(maxlen=8))
    #: How often it may still be read: a flood of failures does not read megabytes for each.
    readings: int = 3

    def add(self, block: bytes, start: int) -> None:
        """Append a block of the log from ``start`` on."""
        if len(self._first) < 8:
            self._first.append((block, start))
        else:
            self._last.append((block, start))

    def module(self) -> str:
        """The stored text of the module behind the header."""
        blocks = (block[start:] for block, start in (*self._first, *self._last))
        return passes.first_dump(b"".join(blocks).decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class LoweredOperation:
    """The operation that was being lowered, and the user's lines that it may come from."""

    name: str
    locations: tuple[SourceLocation, ...]


def _only_named(diagnosis: Diagnosis, names: set[str]) -> str | None:
    if named := named_in_message(diagnosis.message, names):
        return named[0]
    for cpp_name in (diagnosis.function, diagnosis.file):
        if named := named_in_cpp(cpp_name or "", names):
            return named[0] if len(named) == 1 else None
    return None


def lowered_operation(diagnosis: Diagnosis, dump: Dump) -> LoweredOperation | None:
    """What was being lowered when the failure was printed; None where nothing names it."""
    if not dump.readings:
        return None
    dump.readings -= 1
    operations = Operations(dump.module())
    name = _only_named(diagnosis, {name for name in operations.names if not name.startswith(_STRUCTURE)})
    if name is None:
        return None
    lines: dict[tuple[str, int], SourceLocation] = {}
    for occurring, offset in operations.occurrences:
        if occurring == name and (location := operations.users_location(offset)):
            lines.setdefault((location.file, location.line), location)
    return LoweredOperation(name, tuple(lines.values()))


def with_lowered_operation(diagnosis: Diagnosis, lowered: LoweredOperation) -> Diagnosis:
    """The diagnosis with what the dump adds: the user's line where it is certain, and a note."""
    lines = lowered.locations
    source = lines[0] if len(lines) == 1 and diagnosis.source is None else diagnosis.source
    if diagnosis.source is not None:
        lines = ()  # the compiler's own location is more certain than those of the dump
    shown = ", ".join(f"{line.file.rpartition('/')[2]}:{line.line}" for line in lines[:_MOST_LINES])
    at = f" ({shown}{', …' if len(lines) > _MOST_LINES else ''})" if shown else ""
    return replace(diagnosis, source=source, notes=(*diagnosis.notes, f"while lowering {lowered.name}{at}"))
