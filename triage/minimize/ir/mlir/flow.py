"""Control flow taken out: one branch of two, the body of a loop once, a jump instead of a choice, an early end."""

from __future__ import annotations

import re
from types import MappingProxyType

from triage.ir.mlir import Op, ParsedModule, Region, Span
from triage.minimize.ir.edits import Edit
from triage.minimize.ir.mlir.operations import ends_block, is_function

_VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_CARRIED = re.compile(r"(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?)")
_FOR = re.compile(r"scf\.for (?:unsigned )?(%[\w$.-]+) = (%[\w$.-]+(?:#\d+)?) to ")
_CHOICE = re.compile(r"(\s*)(cf|llvm)\.(?:cond_br|switch) ")
_TARGET = re.compile(r"\^[\w$.-]+(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?")


def flattened(document: ParsedModule) -> list[Edit]:
    """Every region that can stand in the place of its operation: a branch of ``scf.if``, the body of ``scf.for``,
    what the default warps do."""
    edits = []
    for operation in document.walk():
        if operation.name == "ttg.warp_specialize":
            edit = _in_place(document, operation, operation.regions[0], {}) if operation.regions else None
            edits += [edit] if edit else []
        elif operation.name == "scf.if":
            edits += [edit for region in operation.regions if (edit := _in_place(document, operation, region, {}))]
        elif operation.name == "scf.for" and len(operation.regions) == 1:
            line = document.bare[operation.first]
            held = dict(_CARRIED.findall(line[line.find("iter_args(") :])) if "iter_args(" in line else {}
            if (counted := _FOR.search(line)) is not None:
                edit = _in_place(document, operation, operation.regions[0], {**held, counted[1]: counted[2]})
                edits += [edit] if edit else []
    return edits


def _in_place(document: ParsedModule, operation: Op, region: Region, held: dict[str, str]) -> Edit | None:
    """The region's operations where the operation was: its arguments by what they are at first, the operation's
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
    return Edit(tuple(drop), MappingProxyType(spans))


def straightened(document: ParsedModule) -> list[Edit]:
    """Jumps in the place of conditional ones, to each of their targets, and blocks that end in a return."""
    edits = []
    for operation in document.walk():
        found = _CHOICE.match(document.lines[operation.first])
        if found is None:
            continue
        text = " ".join(line.strip() for line in document.lines[operation.first : operation.last + 1])
        drop = ((operation.first, operation.last),)
        for target in dict.fromkeys(_TARGET.findall(text)):
            line = f"{found[1]}{found[2]}.br {target}"
            edits.append(Edit(drop, before=MappingProxyType({operation.first: (line,)})))
    return edits


def ended(document: ParsedModule) -> list[Edit]:
    """Blocks of functions and partitions that give nothing back, ended by a return in the place of a jump."""
    edits = []
    for holder in document.walk():
        for region, returns in zip(holder.regions, _returns(document, holder), strict=False):
            for operation in region.operations:
                if ends_block(operation) and operation.name.rpartition(".")[2] in ("br", "cond_br", "switch"):
                    new = MappingProxyType({operation.first: (returns,)})
                    edits.append(Edit(((operation.first, operation.last),), before=new))
    return edits


def _returns(document: ParsedModule, holder: Op) -> list[str]:
    """The lines by which the regions of a holder end that give nothing back; none where they give something."""
    if holder.name == "ttg.warp_specialize" and not holder.results:
        return ["      ttg.warp_yield", *["      ttg.warp_return"] * (len(holder.regions) - 1)]
    if is_function(holder) and len(holder.regions) == 1:
        for operation in holder.regions[0].operations:
            if operation.name in ("llvm.return", "tt.return") and "%" not in document.bare[operation.first]:
                return [f"    {operation.name}"]
    return []


def unreachable(document: ParsedModule) -> list[Edit]:
    """Blocks that no branch names, and that are not the first of their region."""
    edits = []
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
                    edits.append(Edit(((line, end),)))
    return edits


def merged(document: ParsedModule) -> list[Edit]:
    """Blocks put behind the one that stands right before: where nothing else jumps to them, the label and the jump go,
    and the block's arguments are what the jump hands over; where nothing jumps to them at all, the label and that
    other block's end."""
    edits = []
    for operation in document.walk():
        for region in operation.regions:
            ends = {one.last: one for one in region.operations if ends_block(one)}
            for line in region.labels:
                before = ends.get(line - 1)
                if before is not None and (edit := _joined(document, region, line, before)) is not None:
                    edits.append(edit)
    return edits


def _joined(document: ParsedModule, region: Region, line: int, before: Op) -> Edit | None:
    named = re.compile(rf"{re.escape(region.labels[line])}(?![\w$.-])")
    mentions = [at for at in range(region.first, region.last + 1) if at != line and named.search(document.bare[at])]
    taken = re.findall(r"(%[\w$.-]+): ", document.bare[line])
    given = []
    if mentions:
        if mentions != [before.first] or before.name not in ("llvm.br", "cf.br"):
            return None
        given = _VALUE.findall(document.bare[before.first])
    if len(taken) != len(given):
        return None
    spans: dict[Span, str] = {}
    for name, other in zip(taken, given, strict=True):
        spans |= dict.fromkeys(region.names[name].uses, other)
    return Edit(((before.first, line),), MappingProxyType(spans))
