"""Printed MLIR as a tree of operations over the lines of the text.

MLIR's printer begins every operation on a line of its own and puts what a region holds on lines between one that ends
in ``{`` and one that begins with ``}``. That is all this relies on: an operation is a range of whole lines with regions
inside, and whatever its own syntax is stays as it is. The text itself is never made anew, only edited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from triage.minimize.ir.edits import Span

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_COMMENT = re.compile(r"//[^\n]*")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_RESULTS = re.compile(r"\s*((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = ")
_NAME = re.compile(r'\s*(?:"([\w.]+)"|([A-Za-z_][\w.]*))')
_CONTINUES = re.compile(r"\s*(?:default|partition\d+|else|do|case)\b[^=]*\{\s*$")
"""How a line begins that belongs to the operation above it although all brackets are closed."""
_ARGUMENT = re.compile(r"(%[\w$.-]+)(?=: | = )")
"""An argument of a region where the region is opened: ``%a: type``, or ``%i = %init``."""


@dataclass(slots=True, eq=False)
class Value:
    """A result or an argument of a region, by the name under which it is used."""

    name: str
    owner: Operation | None
    uses: list[Span] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Region:
    """Operations, and the labels of blocks (by line) between them. ``arguments`` are those of the opening line and of
    all its blocks."""

    owner: Operation | None
    operations: list[Operation] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)
    names: dict[str, Value] = field(default_factory=dict)
    first: int = 0
    last: int = -1


@dataclass(slots=True, eq=False)
class Operation:
    """Lines ``first`` to ``last``; ``headers`` are those of them that are no region's."""

    name: str
    first: int
    last: int
    inside: Region
    results: list[Value] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    headers: list[int] = field(default_factory=list)

    def walk(self) -> Iterator[Operation]:
        """All operations inside, each before the one that holds it, then this one."""
        for region in self.regions:
            for operation in region.operations:
                yield from operation.walk()
        yield self


class Unreadable(Exception):
    """Brackets that do not close, or a line where none should be."""


@dataclass(slots=True)
class Document:
    """A text that was read."""

    lines: list[str]
    top: Region
    bare: list[str]
    """The lines with strings and comments blanked, so that columns stay what they are."""

    def walk(self) -> Iterator[Operation]:
        """All operations, each before the one that holds it."""
        for operation in self.top.operations:
            yield from operation.walk()

    @property
    def text(self) -> str:
        """What was read."""
        return "\n".join(self.lines)


def blank(line: str) -> str:
    """The line with strings and comments blanked."""
    line = _STRING.sub(lambda found: '"' + " " * (len(found[0]) - 2) + '"', line)
    return _COMMENT.sub(lambda found: " " * len(found[0]), line)


def read(text: str) -> Document:
    """Raises Unreadable."""
    lines = text.split("\n")
    bare = [blank(line) for line in lines]
    reader = _Reader(lines, bare)
    top = Region(None, last=len(lines) - 1)
    end = reader.region(top, 0)
    if end != len(lines):
        raise Unreadable(f"line {end + 1}: closes what was not opened")
    document = Document(lines, top, bare)
    _resolve(document, top, [])
    return document


class _Reader:
    def __init__(self, lines: list[str], bare: list[str]) -> None:
        self._lines, self._bare = lines, bare

    def region(self, region: Region, at: int) -> int:
        """Read a region's lines from ``at``; gives back the line that closes it, or the end."""
        while at < len(self._lines):
            line = self._bare[at].strip()
            if not line or line.startswith(("#", "!")):
                at += 1  # Nothing, or an alias.
            elif line.startswith("{-#"):
                return len(self._lines)  # What follows are resources, no operations.
            elif line.startswith("^"):
                region.labels[at] = re.split(r"[(:\s]", line, maxsplit=1)[0]
                self._arguments(region, at, labels=True)
                at += 1
            elif line.startswith("}"):
                return at
            else:
                at = self._operation(region, at)
        return at

    def _operation(self, inside: Region, at: int) -> int:
        results = _RESULTS.match(self._bare[at])
        name = _NAME.match(self._lines[at], results.end() if results else 0)
        operation = Operation((name[1] or name[2]) if name else "", at, at, inside)
        for group in re.findall(r"(%[\w$.-]+)(?::(\d+))?", results[1]) if results else ():
            names = [f"{group[0]}#{number}" for number in range(int(group[1]))] if group[1] else [group[0]]
            operation.results += [Value(one, operation) for one in names]
        depth = 0
        while True:
            operation.headers.append(at)
            line = self._bare[at]
            opens = line.rstrip().endswith("{")
            depth += sum(line.count(one) for one in "([{") - sum(line.count(one) for one in ")]}")
            at += 1
            if opens:
                region = Region(operation, first=at)
                self._arguments(region, at - 1)
                operation.regions.append(region)
                at = self.region(region, at)
                if at >= len(self._lines):
                    raise Unreadable(f"line {operation.first + 1}: is not closed")
                region.last = at - 1
            elif depth < 0:
                raise Unreadable(f"line {at}: closes what was not opened")
            elif depth == 0 and not (at < len(self._lines) and _CONTINUES.match(self._bare[at])):
                break
            elif at >= len(self._lines):
                raise Unreadable(f"line {operation.first + 1}: is not closed")
        operation.last = at - 1
        for value in operation.results:
            inside.names[value.name] = value
        inside.operations.append(operation)
        return at

    def _arguments(self, region: Region, at: int, labels: bool = False) -> None:
        line = self._bare[at]
        results = None if labels else _RESULTS.match(line)
        for found in _ARGUMENT.finditer(line, results.end() if results else 0):
            region.names[found[1]] = Value(found[1], None)


def _resolve(document: Document, region: Region, scopes: list[Region]) -> None:
    """Bind every name that is used to the value it means: the innermost region that knows it."""
    scopes = [*scopes, region]
    for operation in region.operations:
        for number, line in enumerate(operation.headers):
            results = _RESULTS.match(document.bare[line]) if number == 0 else None
            _use(document, line, results.end() if results else 0, scopes, bool(operation.regions))
        for inner in operation.regions:
            _resolve(document, inner, scopes)


def _use(document: Document, line: int, start: int, scopes: list[Region], opens: bool) -> None:
    own = {found.start() for found in _ARGUMENT.finditer(document.bare[line])} if opens else set()
    for found in _VALUE.finditer(document.bare[line], start):
        if found.start() in own:
            continue
        for region in reversed(scopes):
            if (value := region.names.get(found[0])) is not None:
                value.uses.append((line, found.start(), found.end()))
                break
