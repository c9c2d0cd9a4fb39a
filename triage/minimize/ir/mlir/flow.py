"""Passes over control flow: one branch of two, a loop's body once, a jump for a choice, an early return."""

import re
from collections.abc import Iterator
from itertools import pairwise

from triage.ir.mlir import Op, ParsedModule, Region, Span
from triage.minimize.ir.edits import LinePatch, mention, replaced
from triage.minimize.ir.mlir.operations import ends_block, is_function

_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_CARRIED = re.compile(r"(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?)")
_FOR = re.compile(r"scf\.for (?:unsigned )?(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?) to ")
_CHOICE = re.compile(r"(\s*)(cf|llvm)\.(?:cond_br|switch) ")
_TARGET = re.compile(r"\^[\w$.-]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?")


def flattened(document: ParsedModule) -> list[LinePatch]:
    """Replace an operation by one of its regions: a branch of ``scf.if``, the body of ``scf.for``, the default region
    of ``ttg.warp_specialize``."""
    patches = []
    for operation in document.walk():
        regions, initial = list[Region](), dict[str, str]()
        if operation.name == "ttg.warp_specialize":
            regions = operation.regions[:1]
        elif operation.name == "scf.if":
            regions = operation.regions
        elif operation.name == "scf.for" and len(operation.regions) == 1:
            line = document.bare[operation.first]
            if (counter := _FOR.search(line)) is not None:
                regions = operation.regions
                carried = _CARRIED.findall(line.partition("iter_args(")[2])
                initial = {**dict(carried), counter[1]: counter[2]}
        patches += [patch for region in regions if (patch := _in_place(document, operation, region, initial))]
    return patches


def _in_place(document: ParsedModule, operation: Op, region: Region, initial: dict[str, str]) -> LinePatch | None:
    """Replace the operation by the region's operations: the region's arguments by their initial values, the operation's
    results by what the region yields."""
    last = region.operations[-1] if region.operations else None
    yielded: list[str] = []
    drop = [(operation.first, region.first - 1), (region.last + 1, operation.last)]
    if last is not None and ends_block(last):
        if last.name not in ("scf.yield", "ttg.warp_yield"):
            return None
        line = document.bare[last.first]
        yielded = _VALUE.findall(line[: line.rfind(" : ")] if " : " in line else line)
        drop.append((last.first, last.last))
    if len(yielded) != len(operation.results):
        return None
    spans: dict[Span, str] = {}
    for name, value in region.names.items():
        if name in initial:
            spans |= dict.fromkeys(value.uses, initial[name])
    for value, name in zip(operation.results, yielded, strict=True):
        spans |= dict.fromkeys(value.uses, initial.get(name, name))
    return LinePatch(tuple(drop), spans)


def straightened(document: ParsedModule) -> list[LinePatch]:
    """Replace a conditional jump by a jump to one of its targets."""
    patches = []
    for operation in document.walk():
        if (choice := _CHOICE.match(document.lines[operation.first])) is not None:
            text = " ".join(line.strip() for line in document.lines[operation.first : operation.last + 1])
            for target in dict.fromkeys(_TARGET.findall(text)):
                patches.append(replaced(operation.first, operation.last, f"{choice[1]}{choice[2]}.br {target}"))
    return patches


def ended(document: ParsedModule) -> list[LinePatch]:
    """Replace a jump by a return, in functions and partitions without results."""
    return [
        replaced(operation.first, operation.last, returns)
        for holder in document.walk()
        for region, returns in zip(holder.regions, _returns(document, holder), strict=False)
        for operation in region.operations
        if ends_block(operation) and operation.name.rpartition(".")[2] in ("br", "cond_br", "switch")
    ]


def _returns(document: ParsedModule, holder: Op) -> list[str]:
    """The lines that end the regions of an operation without results; none where it has results."""
    if holder.name == "ttg.warp_specialize" and not holder.results:
        return ["      ttg.warp_yield", *["      ttg.warp_return"] * (len(holder.regions) - 1)]
    if is_function(holder) and len(holder.regions) == 1:
        for operation in holder.regions[0].operations:
            if operation.name in ("llvm.return", "tt.return") and "%" not in document.bare[operation.first]:
                return [f"    {operation.name}"]
    return []


def _regions(document: ParsedModule) -> Iterator[Region]:
    return (region for operation in document.walk() for region in operation.regions)


def _mentions(document: ParsedModule, region: Region, label: str) -> list[int]:
    """The lines of a region that contain a label."""
    named = mention(label)
    return [line for line in range(region.first, region.last + 1) if named.search(document.bare[line])]


def unreachable(document: ParsedModule) -> list[LinePatch]:
    """Remove blocks that no branch names and that are not the first of their region."""
    patches = []
    for region in _regions(document):
        starts = [*sorted(region.labels), region.last + 1]
        for line, behind in pairwise(starts):
            before = any(operation.first < line for operation in region.operations)
            if before and all(line <= at < behind for at in _mentions(document, region, region.labels[line])):
                patches.append(LinePatch(((line, behind - 1),)))
    return patches


def merged(document: ParsedModule) -> list[LinePatch]:
    """Join a block to the one before it. Where only that one jumps to it, the label and the jump go, and the block's
    arguments become the jump's operands; where nothing does, the label and the previous block's terminator go."""
    patches = []
    for region in _regions(document):
        ends = {operation.last: operation for operation in region.operations if ends_block(operation)}
        for line in region.labels:
            before = ends.get(line - 1)
            if before is not None and (patch := _joined(document, region, line, before)) is not None:
                patches.append(patch)
    return patches


def _joined(document: ParsedModule, region: Region, line: int, before: Op) -> LinePatch | None:
    jumps = [at for at in _mentions(document, region, region.labels[line]) if at != line]
    arguments = re.findall(r"(%[\w$.-]+): ", document.bare[line])
    if jumps and (jumps != [before.first] or before.name not in ("llvm.br", "cf.br")):
        return None
    operands = _VALUE.findall(document.bare[before.first]) if jumps else []
    if len(arguments) != len(operands):
        return None
    spans: dict[Span, str] = {}
    for name, operand in zip(arguments, operands, strict=True):
        spans |= dict.fromkeys(region.names[name].uses, operand)
    return LinePatch(((before.first, line),), spans)
