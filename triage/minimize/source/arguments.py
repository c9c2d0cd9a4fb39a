"""The kernel's arguments: constants in their place, one for another, and then gone."""

from __future__ import annotations

import ast
from typing import Any

from triage.minimize.source.statements import without_parameter
from triage.minimize.source.view import Step, View, parameters, uses

_MOST_SWAPS = 150
"""Pairs of names of which one may do for the other; beyond that there is more to gain elsewhere first."""


def constants(view: View) -> list[Step]:
    """A constexpr gives way to its value, a number to 1 or 0."""
    kernel = view.kernel
    if kernel is None:
        return []
    case, found = view.specimen.case, []
    for argument in parameters(kernel):
        name = argument.arg
        if name in case.constexprs:
            literals = [literal(case.constexprs[name])]
        elif str(case.signature.get(name, "*")).startswith(("i", "u", "fp", "bf")):
            literals = ["1", "0"] if str(case.signature[name])[0] in "iu" else ["1.0"]
        else:
            continue
        gone = without_parameter(view, kernel, argument)
        for text in literals:
            edits = [view.module.replace(use, text) for use in uses(kernel.body, name)]
            if not _stored(kernel, name):
                found.append(Step((gone, *edits), (name,)))
    return found


def literal(value: Any) -> str:
    """A constexpr of a case as the kernel's source spells it: Triton's objects as they stand, lists as tuples."""
    if isinstance(value, str) and value.startswith(("tl.", "gl.", "ttgl.", "triton.", "gluon.")):
        return value
    if isinstance(value, list):
        inside = ", ".join(literal(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(value)


def swaps(view: View) -> list[Step]:
    """One local name or argument read in another's place, everywhere: two loads become one, two pointers too."""
    found: list[Step] = []
    for function in view.functions:
        order = [argument.arg for argument in parameters(function)]
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in order:
                order.append(node.id)
        for place in reversed(range(len(order))):
            reads = uses(function.body, order[place])
            for other in order:
                if reads and other != order[place]:
                    found.append(Step(tuple(view.module.replace(read, other) for read in reads)))
    return found[:_MOST_SWAPS]


def single_swaps(view: View) -> list[Step]:
    """One reading of a name replaced by another name that is bound."""
    found: list[Step] = []
    for function in view.functions:
        stored = [
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        order = list(dict.fromkeys([*(argument.arg for argument in parameters(function)), *stored]))
        for name in reversed(order):
            reads = uses(function.body, name)
            if len(reads) > 1:
                found += [
                    Step((view.module.replace(read, other),)) for read in reads for other in order if other != name
                ]
    return found[:_MOST_SWAPS]


def _stored(function: ast.FunctionDef, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in ast.walk(function)
    )
