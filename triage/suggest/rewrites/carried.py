"""A variable that two ways of control flow leave with different element types: round a loop, or through an if.

One type must hold on every way (triton/compiler/code_generator.py, _verify_loop_carried_variable and
visit_then_else_blocks). It is made so where the variable starts, or where it is given its new value.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from triage.source.dtypes import canonical_dtype, language_dtype
from triage.source.module import Edit, argument, assignments, called
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import behind, functions, language, within

_MESSAGES = (
    re.compile(r"Loop-carried variable (\w+) has initial type (.+?) but is re-assigned to (.+?) in loop"),
    re.compile(r"initial value for `(\w+)` is of type (.+?), but the \w+ block redefines it as (.+)"),
)
_ELEMENT = re.compile(r"\b(bf16|fp\d\w*|u?int\d+)\b")
_MAKERS = {"zeros": 1, "full": 2}
"""Functions that take the element type of what they make, and where."""


@dataclass(frozen=True, slots=True)
class _Change:
    name: str
    before: str
    after: str


def loop_carried_type(subject: Subject) -> Iterator[Rewritten]:
    """The wider type from the start, alone and with what starts alike; and the new value cast back."""
    tl = language(subject.module)
    change = _read(subject.scene.evidence.text)
    if tl is None or change is None:
        return
    for function in functions(subject):
        starts, later = _split(subject, function, change.name)
        if not later:
            continue
        ways = [_from_the_start(subject, function, starts, change, tl), _cast_back(subject, later, change, tl)]
        if _wider(change.before, change.after):
            ways.reverse()
        for way in ways:
            yield from way


def _read(text: str) -> _Change | None:
    """The variable and its two element types; None where its shape changes as well."""
    for pattern in _MESSAGES:
        found = pattern.search(text)
        if found is None:
            continue
        name, before, after = found.groups()
        one, other = _ELEMENT.search(before), _ELEMENT.search(after)
        if one is None or other is None or one[1] == other[1]:
            return None
        if re.findall(r"\d+", before.replace(one[1], "")) != re.findall(
            r"\d+", after.splitlines()[0].replace(other[1], "")
        ):
            return None
        return _Change(name, canonical_dtype(one[1]), canonical_dtype(other[1]))
    return None


def _wider(one: str, other: str) -> bool:
    """``one`` holds more than ``other``: floating point more than integers, then by width."""

    def rank(type_: str) -> tuple[bool, int]:
        width = re.search(r"\d+", type_.removeprefix("b"))
        bits = int(width[0]) if width else 0
        return type_.startswith(("fp", "bf")), bits

    return rank(one) > rank(other)


_Binding = ast.Assign | ast.AugAssign | ast.AnnAssign


def _split(subject: Subject, function: ast.FunctionDef, name: str) -> tuple[list[_Binding], list[_Binding]]:
    """The statement that gives the variable its first value, and those inside the loop or if that is at fault."""
    made = assignments(function, name)
    around = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.For | ast.While | ast.If) and any(within(binding, node) for binding in made)
    ]
    # The innermost construct that the failure points at; where it points at none, the outermost.
    pointed = [node for node in around if node.lineno in subject.scene.evidence.lines]
    chosen = pointed[-1:] or around[:1]
    if not chosen:
        return [], []
    later = [binding for binding in made if within(binding, chosen[0])]
    before = [binding for binding in made if binding.lineno < chosen[0].lineno]
    return before[-1:], later


def _from_the_start(
    subject: Subject, function: ast.FunctionDef, starts: list[_Binding], change: _Change, tl: str
) -> Iterator[Rewritten]:
    if not starts or not isinstance(starts[0], ast.Assign | ast.AnnAssign) or starts[0].value is None:
        return
    first = ast.dump(starts[0].value)
    alike = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and node is not starts[0] and ast.dump(node.value) == first
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and _loops(function, node.targets[0].id)
    ]
    type_ = f"{tl}.{language_dtype(change.after)}"
    for others in ([], alike) if alike else ([],):
        edits = [edit for one in (starts[0], *others) for edit in _retyped(subject, one.value, type_, tl)]
        text = subject.module.edited(edits)
        if text is None:
            continue
        names = [
            change.name,
            *(other_row.targets[0].id for other_row in others if isinstance(other_row.targets[0], ast.Name)),
        ]
        yield Rewritten(
            text,
            f"start {' and '.join(names)} in {change.after}",
            f"{change.name} starts as {change.before} and becomes {change.after}; it must keep one type",
            results=f"precision: {' and '.join(names)} {'are' if others else 'is'} {change.after} throughout, "
            f"not {change.before} at first",
        )


def _loops(function: ast.FunctionDef, name: str) -> bool:
    """The name is given a new value inside a loop."""
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]
    return any(within(assignment, loop) for assignment in assignments(function, name) for loop in loops)


def _retyped(subject: Subject, value: ast.expr | None, type_: str, tl: str) -> tuple[Edit, ...]:
    if value is None:
        return ()
    module = subject.module
    place = _MAKERS.get(called(value))
    if place is not None and isinstance(value, ast.Call):
        dtype = argument(value, place, "dtype")
        if dtype is not None:
            return (module.replace(dtype, type_),)
    if _is_number(value):
        # A number has no type to convert; a tensor of no dimensions does.
        return (module.replace(value, f"{tl}.full([], {module.segment(value)}, {type_})"),)
    return behind(module, value, f".to({type_})")


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Call(func=ast.Name(id="float" | "int")) | ast.UnaryOp(operand=ast.Call(func=ast.Name(id="float"))):
            return True
    return False


def _cast_back(subject: Subject, later: list[_Binding], change: _Change, tl: str) -> Iterator[Rewritten]:
    type_ = f"{tl}.{language_dtype(change.before)}"
    module = subject.module
    edits: list[Edit] = []
    for one in later:
        if one.value is None or _is_number(one.value):
            continue
        if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name):
            start, end = module.span(one)
            operator = _operator(one.op)
            if operator is None:
                return
            name, value = one.target.id, module.operand(one.value)
            edits.append(Edit(start, end, f"{name} = ({name} {operator} {value}).to({type_})"))
        else:
            edits += behind(module, one.value, f".to({type_})")
    text = module.edited(edits)
    if not edits or text is None:
        return
    floats = all(type_.startswith(("fp", "bf")) for type_ in (change.before, change.after))
    results = f"precision: {change.name} is rounded from {change.after} to {change.before} each time"
    if floats and _wider(change.before, change.after):
        results = ""
    yield Rewritten(
        text,
        f"cast the new value of {change.name} back to {change.before}",
        f"{change.name} starts as {change.before} and becomes {change.after}; it must keep one type",
        results=results,
    )


def _operator(node: ast.operator) -> str | None:
    spellings: dict[type[ast.operator], str] = {
        ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&",
        ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    }  # fmt: skip
    return spellings.get(type(node))
