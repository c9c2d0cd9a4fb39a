"""Passes over control flow: one branch of two, a loop's body once, a jump for a choice, an early return."""

from __future__ import annotations

import re
from types import MappingProxyType

from triage.ir.mlir import Op, ParsedModule, Region, Span
from triage.minimize.ir.edits import LinePatch
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
        if operation.name == "ttg.warp_specialize":
            patch = _in_place(document, operation, operation.regions[0], {}) if operation.regions else None
            patches += [patch] if patch else []
        elif operation.name == "scf.if":
            patches += [patch for region in operation.regions if (patch := _in_place(document, operation, region, {}))]
        elif operation.name == "scf.for" and len(operation.regions) == 1:
            line = document.bare[operation.first]
            held = dict(_CARRIED.findall(line[line.find("iter_args(") :])) if "iter_args(" in line else {}
            if (counted := _FOR.search(line)) is not None:
                patch = _in_place(document, operation, operation.regions[0], {**held, counted[1]: counted[2]})
                patches += [patch] if patch else []
    return patches


def _in_place(document: ParsedModule, operation: Op, region: Region, held: dict[str, str]) -> LinePatch | None:
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
        if name in held:
            spans |= dict.fromkeys(value.uses, held[name])
    for value, name in zip(operation.results, yielded, strict=True):
        spans |= dict.fromkeys(value.uses, held.get(name, name))
    return LinePatch(tuple(drop), MappingProxyType(spans))


def straightened(document: ParsedModule) -> list[LinePatch]:
    """Replace a conditional jump by a jump to one of its targets."""
    patches = []
    for operation in document.walk():
        choice = _CHOICE.match(document.lines[operation.first])
        if choice is None:
            continue
        text = " ".join(line.strip() for line in document.lines[operation.first : operation.last + 1])
        drop = ((operation.first, operation.last),)
        for target in dict.fromkeys(_TARGET.findall(text)):
            line = f"{choice[1]}{choice[2]}.br {target}"
            patches.append(LinePatch(drop, before=MappingProxyType({operation.first: (line,)})))
    return patches


def ended(document: ParsedModule) -> list[LinePatch]:
    """Replace a jump by a return, in functions and partitions without results."""
    patches = []
    for holder in document.walk():
        for region, returns in zip(holder.regions, _returns(document, holder), strict=False):
            for operation in region.operations:
                if ends_block(operation) and operation.name.rpartition(".")[2] in ("br", "cond_br", "switch"):
                    new = MappingProxyType({operation.first: (returns,)})
                    patches.append(LinePatch(((operation.first, operation.last),), before=new))
    return patches


def _returns(document: ParsedModule, holder: Op) -> list[str]:
    """The lines that end the regions of an operation without results; none where it has results."""
    if holder.name == "ttg.warp_specialize" and not holder.results:
        return ["      ttg.warp_yield", *["      ttg.warp_return"] * (len(holder.regions) - 1)]
    if is_function(holder) and len(holder.regions) == 1:
        for operation in holder.regions[0].operations:
            if operation.name in ("llvm.return", "tt.return") and "%" not in document.bare[operation.first]:
                return [f"    {operation.name}"]
    return []


def unreachable(document: ParsedModule) -> list[LinePatch]:
    """Remove blocks that no branch names and that are not the first of their region."""
    patches = []
    for operation in document.walk():
        for region in operation.regions:
            starts = sorted(region.labels)
            for number, line in enumerate(starts):
                before = any(other.first < line for other in region.operations)
                end = starts[number + 1] - 1 if number + 1 < len(starts) else region.last
                named = re.compile(rf"{re.escape(region.labels[line])}(?![\w$.-])")
                lines = range(region.first, region.last + 1)
                used = any(named.search(document.bare[at]) for at in lines if not line <= at <= end)
                if before and not used:
                    patches.append(LinePatch(((line, end),)))
    return patches


def merged(document: ParsedModule) -> list[LinePatch]:
    """Join a block to the one before it. Where only that one jumps to it, the label and the jump go, and the block's
    arguments become the jump's operands; where nothing does, the label and the previous block's terminator go."""
    patches = []
    for operation in document.walk():
        for region in operation.regions:
            ends = {operation.last: operation for operation in region.operations if ends_block(operation)}
            for line in region.labels:
                before = ends.get(line - 1)
                if before is not None and (patch := _joined(document, region, line, before)) is not None:
                    patches.append(patch)
    return patches


def _joined(document: ParsedModule, region: Region, line: int, before: Op) -> LinePatch | None:
    named = re.compile(rf"{re.escape(region.labels[line])}(?![\w$.-])")
    mentions = [at for at in range(region.first, region.last + 1) if at != line and named.search(document.bare[at])]
    taken = re.findall(r"(%[\w$.-]+): ", document.bare[line])
    operands = []
    if mentions:
        if mentions != [before.first] or before.name not in ("llvm.br", "cf.br"):
            return None
        operands = _VALUE.findall(document.bare[before.first])
    if len(taken) != len(operands):
        return None
    spans: dict[Span, str] = {}
    for name, other in zip(taken, operands, strict=True):
        spans |= dict.fromkeys(region.names[name].uses, other)
    return LinePatch(((before.first, line),), MappingProxyType(spans))
