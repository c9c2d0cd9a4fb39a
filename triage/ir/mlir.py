"""Printed MLIR as a tree of operations over the lines of the text.

MLIR's printer begins every operation on a new line, and prints a region on the lines between one that ends in ``{`` and
one that begins with ``}``. The parser relies on nothing else: an operation is a range of whole lines with regions
inside, whatever its own syntax is. Text is never printed from the tree, only edited by lines and columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Span = tuple[int, int, int]
"""Line, first column, column behind the last."""

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_COMMENT = re.compile(r"//[^\n]*")
_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_RESULTS = re.compile(r"\s*((?:%[\w$.-]+(?::\d+)?(?:, )?)+) = ")
_NAME = re.compile(r'\s*(?:"([\w.]+)"|([A-Za-z_][\w.]*))')
_CONTINUES = re.compile(r"\s*(?:default|partition\d+|else|do|case)\b[^=]*\{\s*$")
"""A line that continues the operation above it although all brackets are closed."""
_ARGUMENT = re.compile(r"(%[\w$.-]+)(?=: | = )")
"""An argument of a region in the line that opens it: ``%a: type``, or ``%i = %init``."""
_VOID_RESULT = re.compile(r"^(\s*)%\S+ = (llvm\.call_intrinsic .*-> )!llvm\.void\b", re.MULTILINE)


@dataclass(slots=True, eq=False)
class MlirValue:
    """A result, or an argument of a region, with all its uses."""

    name: str
    owner: Op | None
    uses: list[Span] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Region:
    """Operations, and the labels of the blocks between them, by line. ``names``: the region's own values, its
    arguments and those of its blocks included."""

    owner: Op | None
    operations: list[Op] = field(default_factory=list)
    labels: dict[int, str] = field(default_factory=dict)
    names: dict[str, MlirValue] = field(default_factory=dict)
    first: int = 0
    last: int = -1


@dataclass(slots=True, eq=False)
class Op:
    """An operation in lines ``first`` to ``last``; ``headers`` are those of them outside its regions."""

    name: str
    first: int
    last: int
    inside: Region
    results: list[MlirValue] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    headers: list[int] = field(default_factory=list)

    def walk(self) -> Iterator[Op]:
        """All operations inside in post-order, then this one."""
        for region in self.regions:
            for operation in region.operations:
                yield from operation.walk()
        yield self


class UnreadableMlir(Exception):
    """Brackets do not match, or a line is where none can be."""


@dataclass(slots=True)
class ParsedModule:
    """A parsed text."""

    lines: list[str]
    top: Region
    bare: list[str]
    """The lines with strings and comments blanked, all columns unchanged."""

    def walk(self) -> Iterator[Op]:
        """All operations in post-order: each before the one that contains it."""
        for operation in self.top.operations:
            yield from operation.walk()

    @property
    def text(self) -> str:
        """The text that was parsed."""
        return "\n".join(self.lines)


def blank(line: str) -> str:
    """The line with strings and comments blanked, all columns unchanged."""
    line = _STRING.sub(lambda match: '"' + " " * (len(match[0]) - 2) + '"', line)
    return _COMMENT.sub(lambda match: " " * len(match[0]), line)


def reparsable(text: str) -> str:
    """The text as the release that printed it can parse it: 3.4.0 prints a result for calls of intrinsics that have
    none, and does not accept that itself."""
    return _VOID_RESULT.sub(r"\1\2()", text)


def read(text: str) -> ParsedModule:
    """Parse a module. Raises UnreadableMlir."""
    lines = text.split("\n")
    bare = [blank(line) for line in lines]
    parser = _Parser(lines, bare)
    top = Region(None, last=len(lines) - 1)
    end = parser.region(top, 0)
    if end != len(lines):
        raise UnreadableMlir(f"line {end + 1}: closes a bracket that was not opened")
    document = ParsedModule(lines, top, bare)
    _resolve(document, top, [])
    return document


class _Parser:
    def __init__(self, lines: list[str], bare: list[str]) -> None:
        self._lines, self._bare = lines, bare

    def region(self, region: Region, at: int) -> int:
        """Parse a region's lines from ``at``; returns the line that closes it, or the end."""
        while at < len(self._lines):
            line = self._bare[at].strip()
            if not line or line.startswith(("#", "!")):
                at += 1  # empty, or an alias
            elif line.startswith("{-#"):
                return len(self._lines)  # resources follow, not operations
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
        operation = Op((name[1] or name[2]) if name else "", at, at, inside)
        for group in re.findall(r"(%[\w$.-]+)(?::(\d+))?", results[1]) if results else ():
            names = [f"{group[0]}#{number}" for number in range(int(group[1]))] if group[1] else [group[0]]
            operation.results += [MlirValue(name, operation) for name in names]
        depth = 0
        while True:
            operation.headers.append(at)
            line = self._bare[at]
            opens = line.rstrip().endswith("{")
            depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
            at += 1
            if opens:
                region = Region(operation, first=at)
                self._arguments(region, at - 1)
                operation.regions.append(region)
                at = self.region(region, at)
                if at >= len(self._lines):
                    raise UnreadableMlir(f"line {operation.first + 1}: a bracket is not closed")
                region.last = at - 1
            elif depth < 0:
                raise UnreadableMlir(f"line {at}: closes a bracket that was not opened")
            elif depth == 0 and not (at < len(self._lines) and _CONTINUES.match(self._bare[at])):
                break
            elif at >= len(self._lines):
                raise UnreadableMlir(f"line {operation.first + 1}: a bracket is not closed")
        operation.last = at - 1
        for value in operation.results:
            inside.names[value.name] = value
        inside.operations.append(operation)
        return at

    def _arguments(self, region: Region, at: int, labels: bool = False) -> None:
        line = self._bare[at]
        results = None if labels else _RESULTS.match(line)
        for match in _ARGUMENT.finditer(line, results.end() if results else 0):
            region.names[match[1]] = MlirValue(match[1], None)


def _resolve(document: ParsedModule, region: Region, scopes: list[Region]) -> None:
    """Bind every use of a name to the value that it means: the one of the innermost region that defines it."""
    scopes = [*scopes, region]
    for operation in region.operations:
        for number, line in enumerate(operation.headers):
            results = _RESULTS.match(document.bare[line]) if number == 0 else None
            _use(document, line, results.end() if results else 0, scopes, bool(operation.regions))
        for inner in operation.regions:
            _resolve(document, inner, scopes)


def _use(document: ParsedModule, line: int, start: int, scopes: list[Region], opens: bool) -> None:
    defined = {match.start() for match in _ARGUMENT.finditer(document.bare[line])} if opens else set()
    for match in _VALUE.finditer(document.bare[line], start):
        if match.start() in defined:
            continue
        for region in reversed(scopes):
            if (value := region.names.get(match[0])) is not None:
                value.uses.append((line, match.start(), match.end()))
                break
