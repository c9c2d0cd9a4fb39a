"""A specimen written out: branches that constants decide taken, helpers inlined, tuple assignments split.

The result is usually longer: not a reduction, but the text from which ``slices`` reads the dependences.
"""

import ast
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from triage.minimize.source.arguments import is_dotted_object
from triage.minimize.source.helpers import inlined_calls
from triage.minimize.source.specimen import Specimen
from triage.minimize.source.statements import split_assignment, unwrapped
from triage.minimize.source.tidy import tidied
from triage.minimize.source.view import SourcePatch, View, sound
from triage.source.functions import stored_names
from triage.source.module import statements
from triage.source.operators import BINARY, COMPARISONS

_MOST_STEPS = 60
"""Bound for helpers that call themselves, whose calls can be inlined without end."""
_MOST_CHARACTERS = 200_000
"""A helper that is called at many places may be inlined into a text that takes longer to parse than to compile."""
_BINARY = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr)
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    **COMPARISONS,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


@dataclass(frozen=True, slots=True)
class _Symbol:
    """An object of Triton under its dotted name, as ``tl.float16``."""

    name: str


class _Unknown(Exception):
    """The value depends on what is not constant."""


def written_out(specimen: Specimen) -> Specimen:
    """The specimen with every step taken that applies; where nothing does, the specimen itself."""
    for _ in range(_MOST_STEPS):
        view = View.of(specimen)
        if view is None:
            return specimen
        steps = (_applied(view, propose(view)) for propose in (decided, split, inlined_calls))
        longer = next((step for step in steps if step is not None), None)
        if longer is None or len(longer.text) > _MOST_CHARACTERS:
            return specimen
        specimen = longer
    return specimen


def _applied(view: View, patches: list[SourcePatch]) -> Specimen | None:
    """The specimen after all patches, or after the first that can be applied; None without any."""
    for together in (patches, *([patch] for patch in patches)):
        text = view.module.edited(edit for patch in together for edit in patch.edits) if together else None
        if text is not None and text != view.specimen.text:
            changed = replace(view.specimen, text=tidied(text))
            if sound(changed):
                return changed
    return None


def split(view: View) -> list[SourcePatch]:
    """Make one assignment for each name of a tuple, where no value reads a name that is assigned before it."""
    patches = []
    for function in view.functions:
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(
                    values
                ):
                    earlier, later = {ast.unparse(name) for name in names[:-1]}, values[1:]
                    read = {part.id for value in later for part in ast.walk(value) if isinstance(part, ast.Name)}
                    if not earlier & read:
                        patches.append(split_assignment(view, node, names, values))
    return patches


def decided(view: View) -> list[SourcePatch]:
    """Replace an ``if`` or a conditional expression whose condition is constant by the branch that is taken."""
    patches: list[SourcePatch] = []
    for function in view.functions:
        known = dict(view.specimen.case.constexprs) if function is view.kernel else {}
        stores = Counter(name.id for name in stored_names(function))
        known = {name: _constant(value) for name, value in known.items() if not stores[name]}
        for node in statements(function):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ) if stores[name] == 1 and (result := _value(value, known)):
                    known[name] = result[0]
        _decided_in(view, function, known, patches)
    return patches


def _decided_in(view: View, node: ast.AST, known: dict[str, Any], patches: list[SourcePatch]) -> None:
    """Patches for the outermost conditions within a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If | ast.IfExp) and (result := _value(child.test, known)):
            if isinstance(child, ast.IfExp):
                patches.append(view.replacing(child, view.module.operand(child.body if result[0] else child.orelse)))
            elif block := (child.body if result[0] else child.orelse):
                if not view.module.segment(child).startswith("elif"):
                    patches.append(unwrapped(view, child, block))
            else:
                patches.append(view.removing(child))
        else:
            _decided_in(view, child, known, patches)


def _constant(value: Any) -> Any:
    """A constexpr of a case; those of Triton's objects are strings."""
    is_symbol = isinstance(value, str) and is_dotted_object(value)
    return _Symbol(value) if is_symbol else value


def _value(node: ast.expr, known: Mapping[str, Any]) -> tuple[Any] | None:
    """The value of an expression, None where it is not constant."""
    try:
        return (_evaluated(node, known),)
    except (_Unknown, ArithmeticError, TypeError, ValueError, RecursionError):
        return None


def _evaluated(node: ast.expr, known: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Attribute() if is_dotted_object(name := ast.unparse(node)):
            return _Symbol(name)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _evaluated(operand, known)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluated(operand, known)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _BINARY:
            return BINARY[type(operation)](_number(left, known), _number(right, known))
        case ast.Compare(left=left, ops=[operation], comparators=[right]) if type(operation) in _COMPARISONS:
            return _COMPARISONS[type(operation)](_evaluated(left, known), _evaluated(right, known))
        case ast.BoolOp(op=operation, values=values):
            decisive = isinstance(operation, ast.Or)
            # One operand may decide although another is not constant.
            results = [_value(value, known) for value in values]
            if any(result is not None and bool(result[0]) is decisive for result in results):
                return decisive
            if None not in results:
                return not decisive
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _evaluated(body if _evaluated(test, known) else orelse, known)
    raise _Unknown


def _number(node: ast.expr, known: Mapping[str, Any]) -> int | float:
    """An operand of arithmetic: of strings and tuples it may take any time and memory."""
    value = _evaluated(node, known)
    if isinstance(value, int | float) and abs(value) < 1 << 63:
        return value
    raise _Unknown
