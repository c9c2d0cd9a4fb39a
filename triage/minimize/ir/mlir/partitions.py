"""Partitions of warps taken out, and what they are handed from outside where none of them uses it."""

from __future__ import annotations

import re
from types import MappingProxyType

from triage.ir.brackets import closing, gaps
from triage.ir.mlir import Op, ParsedModule, Region, Span
from triage.minimize.ir.edits import Edit

_Lists = list[list[Span]]
_ARGUMENT = re.compile(r"(%[\w$.-]+): ")
_VALUE = re.compile(r"%([\w$.-]+)")
_OWN = "own_"
_NUMBERS = re.compile(r"array<i\d+: ([^<>]*)>")


def captures(document: ParsedModule) -> list[Edit]:
    """Operands of ``ttg.warp_specialize`` that no partition uses, with the partitions' arguments and their types."""
    edits = []
    for operation in document.walk():
        if operation.name != "ttg.warp_specialize" or len(operation.regions) < 2:
            continue
        opening = document.bare[operation.first].find("(", document.bare[operation.first].find("warp_specialize"))
        places = [(operation.first, opening)]
        places += [(region.first - 1, document.bare[region.first - 1].find("(")) for region in operation.regions[1:]]
        places.append((operation.last, document.bare[operation.last].find("(")))
        lists = [_items(document, line, at) for line, at in places]
        if len({len(one) for one in lists}) != 1:
            continue
        for number in range(len(lists[0])):
            if not any(_used(document, operation, lists[1:-1], number)):
                spans: dict[Span, str] = {one[number]: "" for one in lists}
                edits.append(Edit(spans=MappingProxyType(spans)))
    return edits


def without_one(document: ParsedModule) -> list[Edit]:
    """Operations that specialize warps with one partition less: its lines, its entry in the lists of numbers that have
    one a partition (or one more, for the default), and the numbers of those behind it."""
    edits = []
    for operation in document.walk():
        if operation.name != "ttg.warp_specialize" or len(operation.regions) < 3:
            continue
        partitions = operation.regions[1:]
        for number, region in enumerate(partitions):
            last = number == len(partitions) - 1
            # The line that closes the last also ends the operation, and now closes the one before.
            drop = (partitions[number - 1].last + 1, region.last) if last else (region.first - 1, region.last + 1)
            spans = _entries(document, operation.first, number, len(partitions))
            for behind in range(number + 1, len(partitions)):
                line = partitions[behind].first - 1
                start = document.bare[line].index("partition")
                spans[line, start, start + len(f"partition{behind}")] = f"partition{behind - 1}"
            edits.append(Edit((drop,), MappingProxyType(spans)))
    return edits


def inlined(document: ParsedModule) -> list[Edit]:
    """What a partition of a single block does, in the place of the operation that specializes warps: its arguments are
    what they are handed, and its values get names of their own, as outside there may be others of the same name."""
    edits = []
    for operation in document.walk():
        if operation.name != "ttg.warp_specialize" or operation.results:
            continue
        bare = document.bare[operation.first]
        handed = [bare[start:end].strip(" ,") for _, start, end in _items(document, operation.first, bare.find("("))]
        for region in operation.regions[1:]:
            last = region.operations[-1] if region.operations else None
            taken = _ARGUMENT.findall(document.bare[region.first - 1])
            if region.labels or last is None or last.name != "ttg.warp_return" or len(taken) != len(handed):
                continue
            spans = _renamed(document, region)
            for name, other in zip(taken, handed, strict=True):
                spans |= dict.fromkeys(region.names[name].uses, other)
            drop = ((operation.first, region.first - 1), (last.first, operation.last))
            edits.append(Edit(drop, MappingProxyType(spans)))
    return edits


def _renamed(document: ParsedModule, region: Region) -> dict[Span, str]:
    """New names for all that is defined in a region, nested ones included."""
    spans: dict[Span, str] = {}
    for line in range(region.first, region.last + 1):
        for found in _VALUE.finditer(document.bare[line]):
            spans[line, found.start(), found.end()] = f"%{_OWN}{found[1]}"
    return spans


def _entries(document: ParsedModule, line: int, number: int, count: int) -> dict[Span, str]:
    bare = document.bare[line]
    spans: dict[Span, str] = {}
    for found in _NUMBERS.finditer(bare):
        columns = list(gaps(bare, found.start(1), found.end(1)))
        if len(columns) in (count, count + 1):
            first, last = columns[number + len(columns) - count]
            spans[line, first, last] = ""
    return spans


def _items(document: ParsedModule, line: int, opening: int) -> list[Span]:
    end = closing(document.bare[line], opening) if opening >= 0 else None
    if end is None:
        return []
    return [(line, *gap) for gap in gaps(document.bare[line], opening + 1, end)]


def _used(document: ParsedModule, operation: Op, lists: _Lists, number: int) -> list[bool]:
    found = []
    for region, spans in zip(operation.regions[1:], lists, strict=True):
        line, start, end = spans[number]
        name = document.bare[line][start:end].strip().partition(":")[0]
        value = region.names.get(name)
        found.append(value is None or bool(value.uses))
    return found
