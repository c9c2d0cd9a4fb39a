"""Passes over the partitions of ``ttg.warp_specialize`` and the values that they capture."""

import re
from collections.abc import Iterator

from triage.ir.brackets import closing, gaps
from triage.ir.mlir import Op, ParsedModule, Region, Span
from triage.minimize.ir.edits import LinePatch, cut

_ARGUMENT = re.compile(r"(%[\w$.-]+): ")
_VALUE = re.compile(r"%([\w$.-]+)")
_OWN = "own_"
_NUMBERS = re.compile(r"array<i\d+: ([^<>]*)>")


def _specialized(document: ParsedModule) -> Iterator[tuple[Op, list[Region]]]:
    """Every ``ttg.warp_specialize`` with its partitions, without the default one."""
    for operation in document.walk():
        if operation.name == "ttg.warp_specialize":
            yield operation, operation.regions[1:]


def captures(document: ParsedModule) -> list[LinePatch]:
    """Remove an operand of ``ttg.warp_specialize`` that no partition uses, with the partitions' arguments and types."""
    patches = []
    for operation, partitions in _specialized(document):
        operands = _items(document, operation.first, "warp_specialize")
        arguments = [_items(document, partition.first - 1) for partition in partitions]
        types = _items(document, operation.last)
        if not partitions or {len(spans) for spans in (*arguments, types)} != {len(operands)}:
            continue
        for number, operand in enumerate(operands):
            spans = [listed[number] for listed in arguments]
            used = any(_used(document, *pair) for pair in zip(partitions, spans, strict=True))
            if not used:
                patches.append(cut(operand, *spans, types[number]))
    return patches


def _used(document: ParsedModule, partition: Region, argument: Span) -> bool:
    line, start, end = argument
    value = partition.names.get(document.bare[line][start:end].strip().partition(":")[0])
    return value is None or bool(value.uses)


def without_one(document: ParsedModule) -> list[LinePatch]:
    """Remove a partition: its lines, its entry in the lists that have one number a partition (or one more, for the
    default), and renumber the partitions after it."""
    patches = []
    for operation, partitions in _specialized(document):
        if len(partitions) < 2:
            continue
        for number, region in enumerate(partitions):
            last = number == len(partitions) - 1
            # The line that closes the last also ends the operation, and now closes the one before.
            drop = (partitions[number - 1].last + 1, region.last) if last else (region.first - 1, region.last + 1)
            spans = _entries(document, operation.first, number, len(partitions))
            for behind in range(number + 1, len(partitions)):
                line = partitions[behind].first - 1
                start = document.bare[line].index("partition")
                spans[line, start, start + len(f"partition{behind}")] = f"partition{behind - 1}"
            patches.append(LinePatch((drop,), spans))
    return patches


def inlined(document: ParsedModule) -> list[LinePatch]:
    """Replace the operation by the body of a partition of a single block. The partition's arguments become the
    operands, and its values get new names, as there may be others of the same name outside."""
    patches = []
    for operation, partitions in _specialized(document):
        if operation.results:
            continue
        bare = document.bare[operation.first]
        operands = [bare[start:end].strip(" ,") for _, start, end in _items(document, operation.first)]
        for region in partitions:
            last = region.operations[-1] if region.operations else None
            arguments = _ARGUMENT.findall(document.bare[region.first - 1])
            if region.labels or last is None or last.name != "ttg.warp_return" or len(arguments) != len(operands):
                continue
            spans = {
                (line, match.start(), match.end()): f"%{_OWN}{match[1]}"
                for line in range(region.first, region.last + 1)
                for match in _VALUE.finditer(document.bare[line])
            }
            for name, operand in zip(arguments, operands, strict=True):
                spans |= dict.fromkeys(region.names[name].uses, operand)
            patches.append(LinePatch(((operation.first, region.first - 1), (last.first, operation.last)), spans))
    return patches


def _entries(document: ParsedModule, line: int, number: int, count: int) -> dict[Span, str]:
    """The entries of a partition in the lists of numbers of the operation, to be removed."""
    bare = document.bare[line]
    spans: dict[Span, str] = {}
    for match in _NUMBERS.finditer(bare):
        columns = list(gaps(bare, match.start(1), match.end(1)))
        if len(columns) in (count, count + 1):
            first, last = columns[number + len(columns) - count]
            spans[line, first, last] = ""
    return spans


def _items(document: ParsedModule, line: int, after: str = "") -> list[Span]:
    """The items of the first list in parentheses in a line, or of the first after a word."""
    bare = document.bare[line]
    opening = bare.find("(", bare.find(after))
    end = closing(bare, opening) if opening >= 0 else None
    return [] if end is None else [(line, *gap) for gap in gaps(bare, opening + 1, end)]
