"""Passes over operations: removed, their results replaced by arguments, operands or constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from triage.ir.mlir import Op, ParsedModule, Region, Span, Value
from triage.minimize.ir.edits import LinePatch

Types = Mapping[int, Sequence[str]]
"""Result types by the line in which an operation begins."""

_ENDS = re.compile(
    r"(?:\w+\.)*(?:return|yield|br|cond_br|switch|unreachable|condition|warp_yield|warp_return|[\w.]*\.return|"
    r"reduce\.return|scan\.return)$"
)
_FUNCTION = re.compile(r"(?:\w+\.)?func$")
_NEW = "arg"
"""Prefix of a new argument's name, as in MLIR's own output."""


def ends_block(operation: Op) -> bool:
    """Whether the operation is a terminator, by its name."""
    return _ENDS.match(operation.name) is not None


def is_function(operation: Op) -> bool:
    """Whether the operation is a function of any dialect."""
    return _FUNCTION.match(operation.name) is not None


def reremoved(document: ParsedModule) -> list[Op]:
    """All operations but terminators, the module and its only function, in the order of the text."""
    functions = [operation for operation in document.walk() if is_function(operation) and operation.regions]
    kept = {id(functions[0])} if len(functions) == 1 else set()
    removed = [
        operation
        for operation in document.walk()
        if operation.inside.owner is not None and not ends_block(operation) and id(operation) not in kept
    ]
    return sorted(removed, key=lambda operation: operation.first)


def without(operation: Op) -> LinePatch:
    """Remove an operation, whether it is used or not."""
    return LinePatch(drop=((operation.first, operation.last),))


def unused(document: ParsedModule) -> list[LinePatch]:
    """Remove an operation whose results nothing outside of it uses."""
    return [without(operation) for operation in reremoved(document) if not any(_outside(operation))]


def _outside(operation: Op) -> Iterator[Span]:
    for value in operation.results:
        for span in value.uses:
            if not operation.first <= span[0] <= operation.last:
                yield span


def from_arguments(document: ParsedModule, types: Types) -> list[LinePatch]:
    """Remove an operation and replace its results by new values, one a type: arguments of the function, or inside a
    partition, which is isolated from above, constants at its beginning. An operation with results of unknown type
    stays."""
    names: dict[tuple[int, str], str] = {}
    free = _first_free(document)
    patches = []
    for operation in reremoved(document):
        if not any(value.uses for value in operation.results):
            patches.append(without(operation))
            continue
        holder = _holder(operation)
        known = types.get(operation.first, ())
        if holder is None or len(known) != len(operation.results):
            continue
        spans: dict[Span, str] = {}
        items: dict[tuple[int, int], tuple[str, ...]] = {}
        before: dict[int, tuple[str, ...]] = {}
        for value, kind in zip(operation.results, known, strict=True):
            if value.uses:
                name = names.setdefault((id(holder), kind), f"%{_NEW}{len(names) + free}")
                spans |= dict.fromkeys(value.uses, name)
                if isinstance(holder, Region):
                    initial = constant(kind, operation.name.partition(".")[0])[0]
                    before[holder.first] = (*before.get(holder.first, ()), f"      {name} = {initial}")
                elif (position := _list_of_arguments(document, holder)) is not None:
                    items[position] = (*items.get(position, ()), f"{name}: {kind}")
        drop = ((operation.first, operation.last),)
        patches.append(LinePatch(drop, MappingProxyType(spans), MappingProxyType(items), MappingProxyType(before)))
    return patches


def _first_free(document: ParsedModule) -> int:
    taken = [int(number) for number in re.findall(rf"%{_NEW}(\d+)\b", document.text)]
    return max(taken, default=-1) + 1


def _holder(operation: Op) -> Op | Region | None:
    """The function or the partition around an operation."""
    region = operation.inside
    while (owner := region.owner) is not None and not is_function(owner):
        if owner.name == "ttg.warp_specialize" and region is not owner.regions[0]:
            return region
        region = owner.inside
    return owner


_OPENING = re.compile(r"@(?:[\w$.-]+|\"[^\"]*\")\(")


def _list_of_arguments(document: ParsedModule, function: Op) -> tuple[int, int] | None:
    """Line and column at which a function's argument list begins."""
    opening = _OPENING.search(document.lines[function.first])
    return (function.first, opening.end()) if opening else None


_INTEGER = re.compile(r"(?:i\d+|index)$")
_FLOAT = re.compile(r"(?:f\d+|bf16|f8\w+)$")
_TENSOR = re.compile(r"(?:tensor|vector)<(?:\d+x)+([^,<>]+)(?:,.*)?>$", re.DOTALL)


def constant(kind: str, dialect: str) -> list[str]:
    """Operations without operands that return a value of a type, the most usual first. ``dialect``: the dialect of the
    operation that is replaced."""
    if dialect in ("llvm", "nvvm", "rocdl"):
        return [f"llvm.mlir.undef : {kind}", f"llvm.mlir.zero : {kind}"]
    tensor = _TENSOR.match(kind)
    element = tensor[1] if tensor else kind
    zero = "0" if _INTEGER.match(element) else "0.000000e+00" if _FLOAT.match(element) else None
    if element == "i1":
        zero = "false"
    if zero is None:
        return [f"ub.poison : {kind}"]
    if tensor:
        return [f"arith.constant dense<{zero}> : {kind}"]
    return [f"arith.constant {zero}" + ("" if element == "i1" else f" : {kind}")]


def to_constants(document: ParsedModule, types: Types, choice: int = 0) -> list[LinePatch]:
    """Replace an operation with operands and one result by a constant."""
    patches = []
    for operation in reremoved(document):
        known = types.get(operation.first, ())
        if len(known) != 1 or len(operation.results) != 1 or not operation.results[0].uses:
            continue
        if not _reads(document, operation):
            continue
        constants = constant(known[0], operation.name.partition(".")[0])
        if choice < len(constants):
            indent = re.match(r"\s*", document.lines[operation.first])
            line = f"{indent[0] if indent else ''}{operation.results[0].name} = {constants[choice]}"
            patches.append(
                LinePatch(((operation.first, operation.last),), before=MappingProxyType({operation.first: (line,)}))
            )
    return patches


def _reads(document: ParsedModule, operation: Op) -> bool:
    return bool(operation.regions) or document.bare[operation.first].count("%") > 1


def to_operands(document: ParsedModule, types: Types, of: Mapping[Value, str]) -> list[LinePatch]:
    """Remove an operation and replace its only result by an operand of the same type."""
    patches = []
    operands = _operands(document)
    for operation in reremoved(document):
        known = types.get(operation.first, ())
        if len(known) != 1 or len(operation.results) != 1 or not operation.results[0].uses or operation.regions:
            continue
        for value in operands.get(operation.first, ()):
            if of.get(value) == known[0]:
                spans = dict.fromkeys(operation.results[0].uses, value.name)
                patches.append(LinePatch(((operation.first, operation.last),), MappingProxyType(spans)))
                break
    return patches


def _operands(document: ParsedModule) -> dict[int, list[Value]]:
    by_line: dict[int, list[Value]] = {}
    for value in values(document):
        for line, _, _ in value.uses:
            by_line.setdefault(line, []).append(value)
    return by_line


def values(document: ParsedModule) -> Iterator[Value]:
    """All values of the module."""

    def of(region: Region) -> Iterator[Value]:
        yield from region.names.values()
        for operation in region.operations:
            for inner in operation.regions:
                yield from of(inner)

    yield from of(document.top)


def kinds(document: ParsedModule, types: Types) -> dict[Value, str]:
    """The types of all results whose types are known."""
    by_value = {}
    for operation in document.walk():
        for value, kind in zip(operation.results, types.get(operation.first, ()), strict=False):
            by_value[value] = kind
    return by_value


def merged_arguments(document: ParsedModule) -> list[LinePatch]:
    """Replace an argument of a function by an earlier one of the same type."""
    patches = []
    for operation in document.walk():
        if not is_function(operation) or not operation.regions:
            continue
        first: dict[str, str] = {}
        names = operation.regions[0].names
        for name, kind in _ARGUMENT.findall(document.bare[operation.first]):
            if (value := names.get(name)) is None or not value.uses:
                continue
            if kind in first:
                patches.append(LinePatch(spans=MappingProxyType(dict.fromkeys(value.uses, first[kind]))))
            first.setdefault(kind, name)
    return patches


_ARGUMENT = re.compile(r"(%[\w$.-]+): ([^\s,()<>{}]+(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>)?)")
"""An argument and its type; types that nest deeper are cut, and then equal no other."""
