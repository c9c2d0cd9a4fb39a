"""Passes over operations: removed, their results replaced by arguments, operands or constants."""

import re
from collections.abc import Iterator, Mapping, Sequence

from triage.ir.mlir import MlirValue, Op, ParsedModule, Region, Span
from triage.minimize.ir.edits import LinePatch, replaced

Types = Mapping[int, Sequence[str]]
"""Result types by the line in which an operation begins."""

_ENDS = re.compile(r"(?:\w+\.)*(?:return|yield|br|cond_br|switch|unreachable|condition|warp_yield|warp_return)$")
_FUNCTION = re.compile(r"(?:\w+\.)?func$")
ARGUMENT_LIST = re.compile(r"@(?:[\w$.-]+|\"[^\"]*\")\(")
"""A function's name and the parenthesis that opens its arguments."""
_ARGUMENT = re.compile(r"(%[\w$.-]+): ([^\s,()<>{}]+(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>)?)")
"""An argument and its type; types that nest deeper are cut, and then equal no other."""
_NEW = "arg"
"""Prefix of a new argument's name, as in MLIR's own output."""
_INTEGER = re.compile(r"(?:i\d+|index)$")
_FLOAT = re.compile(r"(?:f\d+|bf16|f8\w+)$")
_TENSOR = re.compile(r"(?:tensor|vector)<(?:\d+x)+([^,<>]+)(?:,.*)?>$", re.DOTALL)


def ends_block(operation: Op) -> bool:
    """Whether the operation is a terminator, by its name."""
    return _ENDS.match(operation.name) is not None


def is_function(operation: Op) -> bool:
    """Whether the operation is a function of any dialect."""
    return _FUNCTION.match(operation.name) is not None


def functions(document: ParsedModule) -> list[Op]:
    """All functions with a body."""
    return [operation for operation in document.walk() if is_function(operation) and operation.regions]


def _removable(document: ParsedModule) -> list[Op]:
    """All operations but terminators, the module and its only function, in the order of the text."""
    with_body = functions(document)
    only = with_body[0] if len(with_body) == 1 else None
    removable = [
        operation
        for operation in document.walk()
        if operation.inside.owner is not None and not ends_block(operation) and operation is not only
    ]
    return sorted(removable, key=lambda operation: operation.first)


def without(operation: Op) -> LinePatch:
    """Remove an operation, whether it is used or not."""
    return LinePatch(drop=((operation.first, operation.last),))


def unused(document: ParsedModule) -> list[LinePatch]:
    """Remove an operation whose results nothing outside of it uses."""
    return [
        without(operation)
        for operation in _removable(document)
        if all(operation.first <= use[0] <= operation.last for value in operation.results for use in value.uses)
    ]


def from_arguments(document: ParsedModule, types: Types) -> list[LinePatch]:
    """Remove an operation and replace its results by new values, one a type: arguments of the function, or inside a
    partition, which is isolated from above, constants at its beginning. An operation with results of unknown type
    stays."""
    names: dict[tuple[int, str], str] = {}
    numbers = [int(number) for number in re.findall(rf"%{_NEW}(\d+)\b", document.text)]
    free = max(numbers, default=-1) + 1
    patches = []
    for operation in _removable(document):
        if not any(value.uses for value in operation.results):
            patches.append(without(operation))
            continue
        holder = _holder(operation)
        kinds = types.get(operation.first, ())
        if holder is None or len(kinds) != len(operation.results):
            continue
        spans: dict[Span, str] = {}
        items: dict[tuple[int, int], tuple[str, ...]] = {}
        before: dict[int, tuple[str, ...]] = {}
        for value, kind in zip(operation.results, kinds, strict=True):
            if value.uses:
                name = names.setdefault((id(holder), kind), f"%{_NEW}{len(names) + free}")
                spans |= dict.fromkeys(value.uses, name)
                if isinstance(holder, Region):
                    initial = constant(kind, operation.name.partition(".")[0])[0]
                    before[holder.first] = (*before.get(holder.first, ()), f"      {name} = {initial}")
                elif opening := ARGUMENT_LIST.search(document.lines[holder.first]):
                    position = (holder.first, opening.end())
                    items[position] = (*items.get(position, ()), f"{name}: {kind}")
        patches.append(LinePatch(((operation.first, operation.last),), spans, items, before))
    return patches


def _holder(operation: Op) -> Op | Region | None:
    """The function or the partition around an operation."""
    region = operation.inside
    while (owner := region.owner) is not None and not is_function(owner):
        if owner.name == "ttg.warp_specialize" and region is not owner.regions[0]:
            return region
        region = owner.inside
    return owner


def constant(kind: str, dialect: str) -> list[str]:
    """Operations without operands that return a value of a type, the most usual first. ``dialect``: the dialect of the
    operation that is replaced."""
    if dialect in ("llvm", "nvvm", "rocdl"):
        return [f"llvm.mlir.undef : {kind}", f"llvm.mlir.zero : {kind}"]
    tensor = _TENSOR.match(kind)
    element = tensor[1] if tensor else kind
    if element == "i1":
        zero = "false"
    elif _INTEGER.match(element):
        zero = "0"
    elif _FLOAT.match(element):
        zero = "0.000000e+00"
    else:
        return [f"ub.poison : {kind}"]
    if tensor:
        return [f"arith.constant dense<{zero}> : {kind}"]
    return [f"arith.constant {zero}" + ("" if element == "i1" else f" : {kind}")]


def _with_one_result(document: ParsedModule, types: Types) -> Iterator[tuple[Op, MlirValue, str]]:
    """Operations with one result, which is used, and its type where that is known."""
    for operation in _removable(document):
        kinds = types.get(operation.first, ())
        if len(kinds) == 1 and len(operation.results) == 1 and operation.results[0].uses:
            yield operation, operation.results[0], kinds[0]


def to_constants(document: ParsedModule, types: Types, choice: int = 0) -> list[LinePatch]:
    """Replace an operation with operands and one result by a constant."""
    patches = []
    for operation, result, kind in _with_one_result(document, types):
        constants = constant(kind, operation.name.partition(".")[0])
        has_operands = operation.regions or document.bare[operation.first].count("%") > 1
        if has_operands and choice < len(constants):
            line = document.lines[operation.first]
            indent = line[: len(line) - len(line.lstrip())]
            patches.append(replaced(operation.first, operation.last, f"{indent}{result.name} = {constants[choice]}"))
    return patches


def to_operands(document: ParsedModule, types: Types) -> list[LinePatch]:
    """Remove an operation and replace its only result by an operand of the same type."""
    kinds: dict[MlirValue, str] = {}
    for operation in document.walk():
        kinds |= zip(operation.results, types.get(operation.first, ()), strict=False)
    operands: dict[int, list[MlirValue]] = {}
    for value in _values(document.top):
        for line, _, _ in value.uses:
            operands.setdefault(line, []).append(value)
    patches = []
    for operation, result, kind in _with_one_result(document, types):
        same = [value for value in operands.get(operation.first, ()) if kinds.get(value) == kind]
        if same and not operation.regions:
            spans = dict.fromkeys(result.uses, same[0].name)
            patches.append(LinePatch(((operation.first, operation.last),), spans))
    return patches


def _values(region: Region) -> Iterator[MlirValue]:
    """All values of a region and of the regions inside it."""
    yield from region.names.values()
    for operation in region.operations:
        for inner in operation.regions:
            yield from _values(inner)


def merged_arguments(document: ParsedModule) -> list[LinePatch]:
    """Replace an argument of a function by an earlier one of the same type."""
    patches = []
    for function in functions(document):
        first: dict[str, str] = {}
        for name, kind in _ARGUMENT.findall(document.bare[function.first]):
            value = function.regions[0].names.get(name)
            if value is not None and value.uses:
                if kind in first:
                    patches.append(LinePatch(spans=dict.fromkeys(value.uses, first[kind])))
                first.setdefault(kind, name)
    return patches
