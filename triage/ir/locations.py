"""Locations as MLIR prints them: aliases, call chains, and which location is the user's own line."""

import re
from collections.abc import Mapping, Sequence

from triage.model.diagnosis import SourceLocation

_PRINTED = re.compile(r'"([^"]{1,1000})":(\d{1,7}):(\d{1,7})')
_REFERENCE = re.compile(r"(#loc\w{0,20})")
_ALIAS = re.compile(r"^(#loc\w{0,20}) = loc\((.{1,2000})\)$", re.MULTILINE)
_LIBRARY = ("site-packages/triton/", "triton/language/", "triton/experimental/", "cutlass/", "torch/_inductor/")
"""Files that are part of Triton, or helpers of Inductor's kernels: an error there was caused by the line that called
it."""
_SEPARATOR = re.compile(r"\\{1,2}")
_MOST_PARTS = 64
"""Parts of a location that are looked at: a hostile text may define each alias by several others."""


def printed_locations(text: str) -> tuple[SourceLocation, ...]:
    """The locations written out in a text, in its order: ``"kernel.py":3:4``. Those of a call chain are innermost
    first. ``-`` is what a tool read from its standard input, and no file."""
    return tuple(
        SourceLocation(file, int(line), int(column)) for file, line, column in _PRINTED.findall(text) if file != "-"
    )


def is_alias(line: str) -> bool:
    """True for the definition of an alias: ``#loc7 = loc("kernel.py":3:4)``."""
    return line.startswith("#loc") and " = loc(" in line


def aliases(text: str) -> dict[str, str]:
    """The definition of each alias of a location; of two definitions the first counts."""
    return dict(reversed(_ALIAS.findall(text)))


def resolved(location: str, known: Mapping[str, str]) -> list[SourceLocation]:
    """The locations in the text inside ``loc(…)``, innermost first, with aliases followed."""
    result: list[SourceLocation] = []
    waiting = [location]  # the next part last
    for _ in range(_MOST_PARTS):
        if not waiting:
            break
        first, *rest = _REFERENCE.split(waiting.pop(), maxsplit=1)
        if rest:
            alias, behind = rest
            waiting += [behind, known.get(alias, "")]
        result += printed_locations(first)
    return result


def users_location(locations: Sequence[SourceLocation]) -> SourceLocation | None:
    """The innermost location that is not in Triton's own files or Inductor's; the outermost where all are."""
    for location in locations:
        file = _SEPARATOR.sub("/", location.file)
        if not any(part in file for part in _LIBRARY):
            return location
    return locations[-1] if locations else None
