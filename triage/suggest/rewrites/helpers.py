"""Helper functions that only make a descriptor or load through a descriptor.

Such a helper treats the two axes of a tile alike: called with the arguments of both axes exchanged, it gives the
exchanged tile. That holds only where the text shows it, so a helper that does more is not one of these.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from triage.source.module import MAKES_DESCRIPTOR, OLD_LOAD, argument, called, entries
from triage.suggest.rewrites.scope import within


@dataclass(frozen=True, slots=True)
class HelperParameter:
    """A helper's parameter: its position and its name. ``old``: it is the bare pointer of a descriptor up to 3.3."""

    position: int
    name: str
    old: bool = False


def is_plain(definitions: Sequence[ast.FunctionDef]) -> bool:
    """Every definition returns what a known call gives, and reads the axes' parameters in that call's lists alone; or
    returns one of its arguments as it is, as a helper for a release without the call does."""
    return bool(definitions) and all(_is_plain(function) for function in definitions)


def axis_pairs(definitions: Sequence[ast.FunctionDef]) -> list[tuple[HelperParameter, HelperParameter]]:
    """Pairs of parameters that are its two offsets, extents or sizes, over all definitions. Empty for a helper that is
    not plain, or whose definitions have other parameters."""
    if not is_plain(definitions):
        return []
    names = _parameters(definitions[0])
    if any(_parameters(function) != names for function in definitions):
        return []
    pairs: dict[frozenset[str], tuple[HelperParameter, HelperParameter]] = {}
    for function in definitions:
        for _, lists in _known_calls(function):
            for pair in lists:
                first, second = sorted(names.index(name) for name in pair)
                pairs[frozenset(pair)] = HelperParameter(first, names[first]), HelperParameter(second, names[second])
    return list(pairs.values())


def descriptor_parameter(definitions: Sequence[ast.FunctionDef]) -> HelperParameter | None:
    """The parameter through which a plain helper loads; None where it loads through nothing or through several."""
    if not is_plain(definitions):
        return None
    holders: set[HelperParameter] = set()
    for function in definitions:
        names = _parameters(function)
        for call, _ in _known_calls(function):
            if called(call) in MAKES_DESCRIPTOR:
                return None
            old = called(call) == OLD_LOAD
            holder = argument(call, 0, "desc_pointer") if old else _receiver(call)
            if not isinstance(holder, ast.Name) or holder.id not in names:
                return None
            holders.add(HelperParameter(names.index(holder.id), holder.id, old))
    names_and_positions = {(parameter.position, parameter.name) for parameter in holders}
    # Definitions for several releases may load in both ways.
    return max(holders, key=lambda parameter: parameter.old) if len(names_and_positions) == 1 else None


def _is_plain(function: ast.FunctionDef) -> bool:
    known = list(_known_calls(function))
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    calls = [call for call, _ in known]
    axes = {name for _, lists in known for pair in lists for name in pair}
    handed_back = set(_parameters(function)) - axes
    if not returned or not all(
        any(value is call for call in calls) or (isinstance(value, ast.Name) and value.id in handed_back)
        for value in returned
    ):
        return False
    return all(
        any(within(node, call) for call in calls)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id in axes
    )


def _known_calls(function: ast.FunctionDef) -> Iterator[tuple[ast.Call, list[tuple[str, str]]]]:
    """Calls that make a descriptor or load through a descriptor, with the pairs of parameters in their lists. A call
    that names an axis in any other way ends the list: the helper cannot be rewritten then."""
    names = set(_parameters(function))
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        if called(node) in MAKES_DESCRIPTOR:
            lists = [argument(node, 1, "shape"), argument(node, 3, "block_shape")]
            if not _contiguous(argument(node, 1, "shape"), argument(node, 2, "strides")):
                return
        elif called(node) == OLD_LOAD:
            lists = [argument(node, 1, "offsets"), argument(node, 2, "shape")]
        elif called(node) == "load" and _receiver(node) is not None:
            lists = [argument(node, 0, "offsets")]
        else:
            continue
        pairs = [_pair(list_) for list_ in lists]
        if any(pair is None or not set(pair) <= names for pair in pairs):
            return
        yield node, [pair for pair in pairs if pair is not None]


def _contiguous(shape: ast.expr | None, strides: ast.expr | None) -> bool:
    """Strides ``[columns, 1]`` of a shape ``[rows, columns]``."""
    match entries(shape), entries(strides):
        case [_, columns], [stride, ast.Constant(value=1)]:
            return ast.dump(columns) == ast.dump(stride)
    return False


def _pair(node: ast.expr | None) -> tuple[str, str] | None:
    match entries(node):
        case [ast.Name(id=first), ast.Name(id=second)] if first != second:
            return first, second
    return None


def _receiver(call: ast.Call) -> ast.expr | None:
    """``d`` of ``d.load(…)``, where that is a plain name."""
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    return holder if isinstance(holder, ast.Name) else None


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [parameter.arg for parameter in (*function.args.posonlyargs, *function.args.args)]
