"""The operations of printed MLIR, their locations, and which of them a failure names.

Unlike `triage.ir.mlir` this reads any text, also a truncated one or the middle of a log. Only certain matches count:
the failure's own words name the operation, or it happened in the C++ class, function or file that implements it.
"""

import re
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from triage.ir.locations import aliases, resolved, users_location
from triage.model.diagnosis import SourceLocation

_NAME = r"[a-z_]\w{0,40}(?:\.\w{1,60}){1,5}"
# `%5 = tt.load %4 …`, `tt.store …`, `"tt.reduce"(…) …`
_OPERATION = re.compile(rf'^ {{1,200}}(?:%[\w#:, %$.-]{{1,400}}? = )?"?({_NAME})"?(?=[\s(<])', re.MULTILINE)
_QUOTED = re.compile(rf"['\"`]({_NAME})['\"`]")
_PRINTED = re.compile(rf'%[\w#:, %]{{1,200}} = "?({_NAME})')
_CLOSING = re.compile(r"^ *\}", re.MULTILINE)
_LOCATION = re.compile(r" loc\((#\w{1,40}|[^\n]{1,2000})\)$")
_FOR_OPERATION = re.compile(r"(\w{2,100}?)Ops?(?![a-z])")
"""C++ classes and files that implement an operation: ``WGMMAOpPattern``, ``ReduceOpToLLVM.cpp``; not
``DotOperandEncodingAttr``."""
_LOWERING = re.compile(r"(?:convert|lower)([A-Z]\w{2,100})$")
"""A C++ function that lowers an operation: ``convertDot``."""
_MOST_MARKED = 40
"""Beyond that many lines only the first is marked: marks everywhere are useless."""


class Operations:
    """The operations that a text of MLIR prints. ``occurrences``: name, and offset of the line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.occurrences = [(match[1], match.start()) for match in _OPERATION.finditer(text)]

    @property
    def names(self) -> set[str]:
        """The names of all operations."""
        return {name for name, _ in self.occurrences}

    @cached_property
    def _aliases(self) -> dict[str, str]:
        return aliases(self.text)

    @cached_property
    def _closings(self) -> dict[int, list[int]]:
        """By their indentation, the offsets of the lines that close a region, ascending."""
        closings: dict[int, list[int]] = {}
        for match in _CLOSING.finditer(self.text):
            closings.setdefault(match.end() - match.start() - 1, []).append(match.start())
        return closings

    def users_location(self, offset: int) -> SourceLocation | None:
        """The user's line that the operation at an offset comes from; one with a region has it behind the region."""
        line = self._line(offset)
        closings = self._closings.get(len(line) - len(line.lstrip()), []) if line.endswith("{") else []
        while line.endswith("{"):
            behind = bisect_right(closings, offset)
            offset = closings[behind] if behind < len(closings) else len(self.text)
            line = self._line(offset)
        location = _LOCATION.search(line)
        return users_location(resolved(location[1], self._aliases)) if location else None

    def _line(self, offset: int) -> str:
        end = self.text.find("\n", offset)
        return self.text[offset : end if end >= 0 else None]


def named_in_message(message: str, names: Collection[str]) -> list[str]:
    """The operations that a failing text names, in its order: first those in quotes, then those printed as
    MLIR prints operations."""
    mentioned = [*_QUOTED.findall(message), *_PRINTED.findall(message)]
    return [name for name in dict.fromkeys(mentioned) if name in names]


def named_in_cpp(name: str, names: Collection[str]) -> list[str]:
    """The operations that the compiler's function or file implements: ``ReduceOpConversion::match``."""
    parts = name.split("::")
    stems = {match[1] for part in parts if (match := _FOR_OPERATION.match(part))}
    stems |= {match[1] for match in [_LOWERING.match(parts[-1])] if match}
    wanted = {_plain(stem) for stem in stems}
    return sorted(name for name in names if _plain(name.rpartition(".")[2]) in wanted)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


@dataclass(frozen=True, slots=True)
class Marked:
    """Lines of a module, from 0, and why these: a clause."""

    lines: frozenset[int] = frozenset()
    why: str = ""


def failing(module: str, message: str, function: str | None, line: tuple[str, int] | None) -> Marked:
    """The lines of ``module`` with the failing operation; none where nothing names it. ``message``: the failing text;
    ``function``: the compiler's, without namespaces; ``line``: file and line of the kernel."""
    operations = Operations(module)
    names = operations.names
    if wanted := named_in_message(message, names):
        return _marked(operations, wanted, f"the failing text names {', '.join(sorted(wanted))}")
    if wanted := named_in_cpp(function or "", names):
        return _marked(operations, wanted, f"it failed in {function}")
    if line is not None:
        offsets = [offset for _, offset in operations.occurrences if _is_at(operations.users_location(offset), *line)]
        if offsets:
            return _at_offsets(module, offsets, f"of line {line[1]} of {line[0]}")
    return Marked()


def _is_at(location: SourceLocation | None, file: str, line: int) -> bool:
    return location is not None and location.line == line and location.file.rpartition("/")[2] == file


def _marked(operations: Operations, wanted: Collection[str], why: str) -> Marked:
    return _at_offsets(operations.text, [offset for name, offset in operations.occurrences if name in wanted], why)


def _at_offsets(module: str, offsets: list[int], why: str) -> Marked:
    if len(offsets) > _MOST_MARKED:
        offsets, why = offsets[:1], f"{why}; the first of {len(offsets)}"
    return Marked(frozenset(module.count("\n", 0, offset) for offset in offsets), why)
