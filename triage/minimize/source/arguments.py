"""Arguments of the kernel and of its helpers: constants in their place, one for another, and then gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from triage.minimize.source.statements import without_parameter
from triage.minimize.source.view import Step, View, defaults, parameters, uses
from triage.source.module import Edit

_MOST_SWAPS = 400
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


def of_helpers(view: View) -> list[Step]:
    """A helper's parameter that it does not read, or that every call gives the same constant, goes out of the helper
    and of its calls."""
    found = []
    for helper in view.functions:
        if helper is view.kernel or helper.args.vararg or helper.args.kwarg:
            continue
        named = [node for node in ast.walk(view.module.tree) if isinstance(node, ast.Name) and node.id == helper.name]
        calls = list(_calls(view, named))
        if len(calls) != len(named):
            continue  # Handed on as a value, to a reduction say: whoever calls it decides its arguments.
        for place, argument in enumerate(parameters(helper)):
            given = [(call, one) for call in calls if (one := _passed(call, place, argument.arg)) is not None]
            if step := _without(view, helper, argument, given):
                found.append(step)
    return found


_Call = ast.Call | ast.Tuple
_Given = ast.expr | ast.keyword


def _calls(view: View, named: list[ast.Name]) -> Iterator[_Call]:
    """Calls of what is named so, and the arguments of Gluon's partitions: ``(function, (arguments))``."""
    for node in ast.walk(view.module.tree):
        match node:
            case ast.Call(func=ast.Name() as name) if name in named:
                yield node
            case ast.Tuple(elts=[ast.Name() as name, ast.Tuple() as given]) if name in named:
                yield given


def _passed(call: _Call, place: int, name: str) -> _Given | None:
    """What a call gives for a parameter, as it stands in the call."""
    for keyword in call.keywords if isinstance(call, ast.Call) else ():
        if keyword.arg == name:
            return keyword
    placed = call.args if isinstance(call, ast.Call) else call.elts
    return placed[place] if place < len(placed) else None


def _without(view: View, helper: ast.FunctionDef, argument: ast.arg, given: list[tuple[_Call, _Given]]) -> Step | None:
    reads = uses(helper.body, argument.arg)
    edits = [without_parameter(view, helper, argument)]
    if reads:
        values = [one.value if isinstance(one, ast.keyword) else one for _, one in given]
        if len({ast.unparse(one) for one in values}) != 1 or not all(isinstance(one, ast.Constant) for one in values):
            return None
        if _stored(helper, argument.arg):
            return None
        edits += [view.module.replace(read, ast.unparse(values[0])) for read in reads]
    for call, gone in given:
        if isinstance(call, ast.Call):
            edits.append(view.without_argument(call, gone))
        else:
            rest = ast.Tuple([one for one in call.elts if one is not gone], ast.Load())
            edits.append(view.module.replace(call, ast.unparse(rest)))
    return Step(tuple(edits))


def plain(view: View) -> list[Step]:
    """Types of parameters and results that the case says as well, default values, and lists of parameters on lines of
    their own."""
    found = []
    for function in view.functions:
        text, (start, _) = view.specimen.text, view.module.span(function)
        head = function.returns or function.body[0]
        closing = text.rindex(")", start, view.module.span(head)[0])
        found.append(Step((Edit(text.index("(", start) + 1, closing, ast.unparse(function.args)),)))
        for argument in parameters(function):
            if argument.annotation is not None and "constexpr" not in ast.unparse(argument.annotation):
                start, _ = view.module.span(argument)
                end = view.module.span(argument.annotation)[1]
                found.append(Step((Edit(start, end, argument.arg),)))
        if function.returns is not None:
            start, end = view.module.span(function.returns)
            arrow = view.specimen.text.rindex("->", 0, start)
            found.append(Step((Edit(len(view.specimen.text[:arrow].rstrip()), end, ""),)))
        for argument, default in defaults(function):
            start, end = view.module.span(argument)[1], view.module.span(default)[1]
            found.append(Step((Edit(start, end, ""),)))
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
