"""Passes over arguments of the kernel and its helpers: replaced by constants or by each other, then removed."""

import ast
from collections.abc import Iterator
from typing import Any

from triage.minimize.source.statements import without_parameter
from triage.minimize.source.view import SourcePatch, View
from triage.source.functions import defaults, parameters, stored_names
from triage.source.module import Edit, uses

_MOST_SWAPS = 400
"""Pairs of names tried a round; in larger kernels other passes gain more first."""


def constexprs(view: View) -> list[SourcePatch]:
    """Replace a constexpr by its value."""
    values = view.specimen.case.constexprs
    return _replaced(view, {name: literal(value) for name, value in values.items()})


def constructed(view: View) -> list[SourcePatch]:
    """Replace an argument of the constructor by its value."""
    values, constructor = view.specimen.case.construct, view.constructor
    if constructor is None:
        return []
    stored = {node.id for node in stored_names(constructor)}
    called = {argument.arg for argument in view.arguments}
    patches = []
    for argument in parameters(constructor)[1:]:
        name = argument.arg
        # The case has one namespace for what both take.
        if name in values and name not in stored | called:
            edits = [view.module.replace(use, literal(values[name])) for use in uses(constructor.body, name)]
            patches.append(SourcePatch((without_parameter(view, constructor, argument), *edits), (name,)))
    return patches


def ones(view: View) -> list[SourcePatch]:
    """Replace a number by 1."""
    types = {name: str(type_) for name, type_ in view.specimen.case.signature.items()}
    numbers = {name: type_ for name, type_ in types.items() if type_.startswith(("i", "u", "fp", "bf"))}
    return _replaced(view, {name: "1" if type_[0] in "iu" else "1.0" for name, type_ in numbers.items()})


def zeros(view: View) -> list[SourcePatch]:
    """Replace an integer by 0."""
    types = view.specimen.case.signature
    return _replaced(view, {name: "0" for name, type_ in types.items() if str(type_).startswith(("i", "u"))})


def _replaced(view: View, literals: dict[str, str]) -> list[SourcePatch]:
    kernel = view.kernel
    if kernel is None:
        return []
    stored = {node.id for node in stored_names(kernel)}
    patches = []
    for argument in view.arguments:
        name = argument.arg
        if name in literals and name not in stored:
            edits = [view.module.replace(use, literals[name]) for use in uses(kernel.body, name)]
            patches.append(SourcePatch((without_parameter(view, kernel, argument), *edits), (name,)))
    return patches


def of_helpers(view: View) -> list[SourcePatch]:
    """Remove a helper's parameter that it does not read, or that gets the same constant in every call."""
    patches = []
    for helper in view.functions:
        if helper is view.kernel or helper.args.vararg or helper.args.kwarg:
            continue
        named = [node for node in ast.walk(view.module.tree) if isinstance(node, ast.Name) and node.id == helper.name]
        calls = list(_calls(view, named))
        if len(calls) != len(named):
            continue  # Passed as a value, to a reduction for example: the callee decides its arguments.
        for index, argument in enumerate(parameters(helper)):
            passed = [(call, node) for call in calls if (node := _passed(call, index, argument.arg)) is not None]
            if patch := _without(view, helper, argument, passed):
                patches.append(patch)
    return patches


_Call = ast.Call | ast.Tuple
_Passed = ast.expr | ast.keyword


def _calls(view: View, named: list[ast.Name]) -> Iterator[_Call]:
    """Calls through these names, and the argument tuples of Gluon's partitions: ``(function, (arguments))``."""
    for node in ast.walk(view.module.tree):
        match node:
            case ast.Call(func=ast.Name() as name) if name in named:
                yield node
            case ast.Tuple(elts=[ast.Name() as name, ast.Tuple() as arguments]) if name in named:
                yield arguments


def _passed(call: _Call, index: int, name: str) -> _Passed | None:
    """The node that a call passes for a parameter."""
    for keyword in call.keywords if isinstance(call, ast.Call) else ():
        if keyword.arg == name:
            return keyword
    positional = call.args if isinstance(call, ast.Call) else call.elts
    return positional[index] if index < len(positional) else None


def _without(
    view: View, helper: ast.FunctionDef, argument: ast.arg, passed: list[tuple[_Call, _Passed]]
) -> SourcePatch | None:
    reads = uses(helper.body, argument.arg)
    edits = [without_parameter(view, helper, argument)]
    if reads:
        values = [node.value if isinstance(node, ast.keyword) else node for _, node in passed]
        if len({ast.unparse(value) for value in values}) != 1 or not isinstance(values[0], ast.Constant):
            return None
        if any(node.id == argument.arg for node in stored_names(helper)):
            return None
        edits += [view.module.replace(read, ast.unparse(values[0])) for read in reads]
    for call, node in passed:
        if isinstance(call, ast.Call):
            edits.append(view.without_argument(call, node))
        else:
            rest = ast.Tuple([element for element in call.elts if element is not node], ast.Load())
            edits.append(view.module.replace(call, ast.unparse(rest)))
    return SourcePatch(tuple(edits))


def plain(view: View) -> list[SourcePatch]:
    """Remove annotations that the case states as well, default values, and line breaks between parameters."""
    patches = []
    text, span = view.specimen.text, view.module.span
    for function in view.functions:
        start, first = span(function)[0], span(function.returns or function.body[0])[0]
        edits = [Edit(text.index("(", start) + 1, text.rindex(")", start, first), ast.unparse(function.args))]
        for argument in parameters(function):
            if argument.annotation is not None and "constexpr" not in ast.unparse(argument.annotation):
                edits.append(Edit(span(argument)[0], span(argument.annotation)[1], argument.arg))
        if function.returns is not None:
            start, end = span(function.returns)
            edits.append(Edit(len(text[: text.rindex("->", 0, start)].rstrip()), end, ""))
        edits += [Edit(span(argument)[1], span(default)[1], "") for argument, default in defaults(function)]
        patches += [SourcePatch((edit,)) for edit in edits]
    return patches


def is_dotted_object(text: str) -> bool:
    """Whether a text is the dotted name of an object of a language."""
    return text.startswith(("tl.", "gl.", "ttgl.", "triton.", "gluon.", "cutlass.", "cute."))


def literal(value: Any) -> str:
    """A constexpr of a case as source text: objects of its language by their dotted names, lists as tuples."""
    if isinstance(value, str) and is_dotted_object(value):
        return value
    if isinstance(value, list):
        inside = ", ".join(literal(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(value)


def swaps(view: View, single: bool) -> list[SourcePatch]:
    """Replace a local name or argument by another, which unites two loads or pointers: every read of it, or
    with ``single`` one of several."""
    patches: list[SourcePatch] = []
    for function in view.functions:
        names = [argument.arg for argument in parameters(function)] + [node.id for node in stored_names(function)]
        for name in reversed(order := list(dict.fromkeys(names))):
            reads = uses(function.body, name)
            others = [other for other in order if other != name]
            if single and len(reads) > 1:
                patches += [view.replacing(read, other) for read in reads for other in others]
            elif not single and reads:
                edits = [tuple(view.module.replace(read, other) for read in reads) for other in others]
                patches += [SourcePatch(together) for together in edits]
    return patches[:_MOST_SWAPS]
