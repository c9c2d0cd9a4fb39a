"""Operations taken out, what they gave taken from elsewhere; regions put in the place of what holds them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from triage.ir.mlir import Op, ParsedModule, Region, Span, Value
from triage.minimize.ir.edits import Edit

Types = Mapping[int, Sequence[str]]
"""Of the operation that begins in a line: its results' types, written out."""

_ENDS = re.compile(
    r"(?:\w+\.)*(?:return|yield|br|cond_br|switch|unreachable|condition|warp_yield|warp_return|[\w.]*\.return|"
    r"reduce\.return|scan\.return)$"
)
_FUNCTION = re.compile(r"(?:\w+\.)?func$")
_NEW = "arg"
"""How the name of a new argument begins, as in MLIR's own."""


def ends_block(operation: Op) -> bool:
    """Whether it is a terminator, by its name."""
    return _ENDS.match(operation.name) is not None


def is_function(operation: Op) -> bool:
    """Whether it is a function of any dialect."""
    return _FUNCTION.match(operation.name) is not None


def removable(document: ParsedModule) -> list[Op]:
    """What may be taken out: everything but terminators, the module, and its only function. In the text's order."""
    functions = [operation for operation in document.walk() if is_function(operation) and operation.regions]
    kept = {id(functions[0])} if len(functions) == 1 else set()
    found = [
        operation
        for operation in document.walk()
        if operation.inside.owner is not None and not ends_block(operation) and id(operation) not in kept
    ]
    return sorted(found, key=lambda operation: operation.first)


def without(operation: Op) -> Edit:
    """The operation gone, whoever uses it."""
    return Edit(drop=((operation.first, operation.last),))


def unused(document: ParsedModule) -> list[Edit]:
    """Operations whose results nothing outside of them uses."""
    return [without(operation) for operation in removable(document) if not any(_outside(operation))]


def _outside(operation: Op) -> Iterator[Span]:
    for value in operation.results:
        for span in value.uses:
            if not operation.first <= span[0] <= operation.last:
                yield span


def from_arguments(document: ParsedModule, types: Types) -> list[Edit]:
    """Operations gone, and one new value a type wherever their results were used: an argument of their function, or
    inside of a partition, which sees nothing from outside, a constant at its beginning. What nothing uses is gone
    without any; what has results of unknown type stays."""
    names: dict[tuple[int, str], str] = {}
    free = _first_free(document)
    edits = []
    for operation in removable(document):
        if not any(value.uses for value in operation.results):
            edits.append(without(operation))
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
                    made = constant(kind, operation.name.partition(".")[0])[0]
                    before[holder.first] = (*before.get(holder.first, ()), f"      {name} = {made}")
                elif (place := _list_of_arguments(document, holder)) is not None:
                    items[place] = (*items.get(place, ()), f"{name}: {kind}")
        drop = ((operation.first, operation.last),)
        edits.append(Edit(drop, MappingProxyType(spans), MappingProxyType(items), MappingProxyType(before)))
    return edits


def _first_free(document: ParsedModule) -> int:
    taken = [int(found) for found in re.findall(rf"%{_NEW}(\d+)\b", document.text)]
    return max(taken, default=-1) + 1


def _holder(operation: Op) -> Op | Region | None:
    """The function or the partition in which an operation stands."""
    region = operation.inside
    while (owner := region.owner) is not None and not is_function(owner):
        if owner.name == "ttg.warp_specialize" and region is not owner.regions[0]:
            return region
        region = owner.inside
    return owner


_OPENING = re.compile(r"@(?:[\w$.-]+|\"[^\"]*\")\(")


def _list_of_arguments(document: ParsedModule, function: Op) -> tuple[int, int] | None:
    """Where a function's list of arguments begins: line and column."""
    found = _OPENING.search(document.lines[function.first])
    return (function.first, found.end()) if found else None


_INTEGER = re.compile(r"(?:i\d+|index)$")
_FLOAT = re.compile(r"(?:f\d+|bf16|f8\w+)$")
_TENSOR = re.compile(r"(?:tensor|vector)<(?:\d+x)+([^,<>]+)(?:,.*)?>$", re.DOTALL)


def constant(kind: str, dialect: str) -> list[str]:
    """Operations without operands that give a value of a type, most usual first; empty where none is known.
    ``dialect``: that of the operation in whose place it comes."""
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


def to_constants(document: ParsedModule, types: Types, choice: int = 0) -> list[Edit]:
    """Operations with one result, and operands, in whose place a constant is put."""
    edits = []
    for operation in removable(document):
        known = types.get(operation.first, ())
        if len(known) != 1 or len(operation.results) != 1 or not operation.results[0].uses:
            continue
        if not _reads(document, operation):
            continue
        made = constant(known[0], operation.name.partition(".")[0])
        if choice < len(made):
            indent = re.match(r"\s*", document.lines[operation.first])
            line = f"{indent[0] if indent else ''}{operation.results[0].name} = {made[choice]}"
            edits.append(
                Edit(((operation.first, operation.last),), before=MappingProxyType({operation.first: (line,)}))
            )
    return edits


def _reads(document: ParsedModule, operation: Op) -> bool:
    return bool(operation.regions) or document.bare[operation.first].count("%") > 1


def to_operands(document: ParsedModule, types: Types, of: Mapping[Value, str]) -> list[Edit]:
    """Operations gone, an operand of the same type in the place of their only result."""
    edits = []
    operands = _operands(document)
    for operation in removable(document):
        known = types.get(operation.first, ())
        if len(known) != 1 or len(operation.results) != 1 or not operation.results[0].uses or operation.regions:
            continue
        for value in operands.get(operation.first, ()):
            if of.get(value) == known[0]:
                spans = dict.fromkeys(operation.results[0].uses, value.name)
                edits.append(Edit(((operation.first, operation.last),), MappingProxyType(spans)))
                break
    return edits


def _operands(document: ParsedModule) -> dict[int, list[Value]]:
    found: dict[int, list[Value]] = {}
    for value in values(document):
        for line, _, _ in value.uses:
            found.setdefault(line, []).append(value)
    return found


def values(document: ParsedModule) -> Iterator[Value]:
    """All values."""

    def of(region: Region) -> Iterator[Value]:
        yield from region.names.values()
        for operation in region.operations:
            for inner in operation.regions:
                yield from of(inner)

    yield from of(document.top)


def kinds(document: ParsedModule, types: Types) -> dict[Value, str]:
    """The types of all results that are known."""
    found = {}
    for operation in document.walk():
        for value, kind in zip(operation.results, types.get(operation.first, ()), strict=False):
            found[value] = kind
    return found


def merged_arguments(document: ParsedModule) -> list[Edit]:
    """For two arguments of a function with the same type, the first wherever the second was used."""
    edits = []
    for operation in document.walk():
        if not is_function(operation) or not operation.regions:
            continue
        first: dict[str, str] = {}
        names = operation.regions[0].names
        for name, kind in _ARGUMENT.findall(document.bare[operation.first]):
            if (value := names.get(name)) is None or not value.uses:
                continue
            if kind in first:
                edits.append(Edit(spans=MappingProxyType(dict.fromkeys(value.uses, first[kind]))))
            first.setdefault(kind, name)
    return edits


_ARGUMENT = re.compile(r"(%[\w$.-]+): ([^\s,()<>{}]+(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>)?)")
"""An argument and its type; types that nest deeper are cut, which makes them no others' equal."""
