"""Passes over the partitions of ``ttg.warp_specialize`` and the values that they capture."""

from __future__ import annotations

import re
from types import MappingProxyType

from triage.ir.brackets import closing, gaps
from triage.ir.mlir import Op, ParsedModule, Region, Span
from triage.minimize.ir.edits import LinePatch

_Lists = list[list[Span]]
_ARGUMENT = re.compile(r"(%[\w$.-]+): ")
_VALUE = re.compile(r"%([\w$.-]+)")
_OWN = "own_"
_NUMBERS = re.compile(r"array<i\d+: ([^<>]*)>")


def captures(document: ParsedModule) -> list[LinePatch]:
    """Remove an operand of ``ttg.warp_specialize`` that no partition uses, with the partitions' arguments and types."""
    patches = []
    for operation in document.walk():
        if operation.name != "ttg.warp_specialize" or len(operation.regions) < 2:
            continue
        opening = document.bare[operation.first].find("(", document.bare[operation.first].find("warp_specialize"))
        places = [(operation.first, opening)]
        places += [(region.first - 1, document.bare[region.first - 1].find("(")) for region in operation.regions[1:]]
        places.append((operation.last, document.bare[operation.last].find("(")))
        lists = [_items(document, line, at) for line, at in places]
        if len({len(spans) for spans in lists}) != 1:
            continue
        for number in range(len(lists[0])):
            if not any(_used(document, operation, lists[1:-1], number)):
                spans: dict[Span, str] = {items[number]: "" for items in lists}
                patches.append(LinePatch(spans=MappingProxyType(spans)))
    return patches


def without_one(document: ParsedModule) -> list[LinePatch]:
    """Remove a partition: its lines, its entry in the lists that have one number a partition (or one more, for the
    default), and renumber the partitions after it."""
    patches = []
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
            patches.append(LinePatch((drop,), MappingProxyType(spans)))
    return patches


def inlined(document: ParsedModule) -> list[LinePatch]:
    """Replace the operation by the body of a partition of a single block. The partition's arguments become the
    operands, and its values get new names, as there may be others of the same name outside."""
    patches = []
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
            patches.append(LinePatch(drop, MappingProxyType(spans)))
    return patches


def _renamed(document: ParsedModule, region: Region) -> dict[Span, str]:
    """New names for all values that a region defines, nested ones included."""
    spans: dict[Span, str] = {}
    for line in range(region.first, region.last + 1):
        for match in _VALUE.finditer(document.bare[line]):
            spans[line, match.start(), match.end()] = f"%{_OWN}{match[1]}"
    return spans


def _entries(document: ParsedModule, line: int, number: int, count: int) -> dict[Span, str]:
    bare = document.bare[line]
    spans: dict[Span, str] = {}
    for match in _NUMBERS.finditer(bare):
        columns = list(gaps(bare, match.start(1), match.end(1)))
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
    used = []
    for region, spans in zip(operation.regions[1:], lists, strict=True):
        line, start, end = spans[number]
        name = document.bare[line][start:end].strip().partition(":")[0]
        value = region.names.get(name)
        used.append(value is None or bool(value.uses))
    return used
