"""A variable that two ways of control flow leave with different element types: round a loop, or through an if.

One type must hold on every way (triton/compiler/code_generator.py, _verify_loop_carried_variable and
visit_then_else_blocks). It is made so where the variable starts, or where it is given its new value.
"""

import ast
import re
from collections.abc import Iterator, Mapping
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
_OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.BitAnd: "&",
    ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip


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
        match = pattern.search(text)
        if match is None:
            continue
        name, before, after = match.groups()
        old, new = _ELEMENT.search(before), _ELEMENT.search(after)
        if old is None or new is None or old[1] == new[1]:
            return None
        old_extents = re.findall(r"\d+", before.replace(old[1], ""))
        new_extents = re.findall(r"\d+", after.splitlines()[0].replace(new[1], ""))
        return _Change(name, canonical_dtype(old[1]), canonical_dtype(new[1])) if old_extents == new_extents else None
    return None


def _wider(before: str, after: str) -> bool:
    """``before`` holds more than ``after``: floating point more than integers, then by width."""

    def rank(type_: str) -> tuple[bool, int]:
        width = re.search(r"\d+", type_.removeprefix("b"))
        bits = int(width[0]) if width else 0
        return type_.startswith(("fp", "bf")), bits

    return rank(before) > rank(after)


_Binding = ast.Assign | ast.AugAssign | ast.AnnAssign


def _split(subject: Subject, function: ast.FunctionDef, name: str) -> tuple[list[_Binding], list[_Binding]]:
    """The statement that gives the variable its first value, and those inside the loop or if that is at fault."""
    bindings = assignments(function, name)
    around = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.For | ast.While | ast.If) and any(within(binding, node) for binding in bindings)
    ]
    # The innermost construct that the failure points at; where it points at none, the outermost.
    pointed = [node for node in around if node.lineno in subject.scene.evidence.lines]
    chosen = pointed[-1:] or around[:1]
    if not chosen:
        return [], []
    later = [binding for binding in bindings if within(binding, chosen[0])]
    before = [binding for binding in bindings if binding.lineno < chosen[0].lineno]
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
        edits = [edit for binding in (starts[0], *others) for edit in _retyped(subject, binding.value, type_, tl)]
        names = [change.name, *(other.targets[0].id for other in others if isinstance(other.targets[0], ast.Name))]
        yield from subject.rewritten(
            edits,
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
    position = _MAKERS.get(called(value))
    dtype = argument(value, position, "dtype") if position is not None and isinstance(value, ast.Call) else None
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
    for binding in later:
        if binding.value is None or _is_number(binding.value):
            continue
        if isinstance(binding, ast.AugAssign) and isinstance(binding.target, ast.Name):
            operator = _OPERATORS.get(type(binding.op))
            if operator is None:
                return
            name, value = binding.target.id, module.operand(binding.value)
            edits.append(module.replace(binding, f"{name} = ({name} {operator} {value}).to({type_})"))
        else:
            edits += behind(module, binding.value, f".to({type_})")
    floats = all(type_.startswith(("fp", "bf")) for type_ in (change.before, change.after))
    results = f"precision: {change.name} is rounded from {change.after} to {change.before} each time"
    if floats and _wider(change.before, change.after):
        results = ""
    yield from subject.rewritten(
        edits,
        f"cast the new value of {change.name} back to {change.before}",
        f"{change.name} starts as {change.before} and becomes {change.after}; it must keep one type",
        results=results,
    )
