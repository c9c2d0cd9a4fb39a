"""Block pointers as tensor descriptors: 3.9 has no block pointers any more, and a descriptor reads the same block.

A block pointer carries its offsets and moves; a descriptor takes them at each access. So each pointer gets one
variable a dimension, which its advances add to. Both read nothing outside the tensor, where a descriptor gives
zeros, and a block pointer without padding leaves the value open (triton/language/core.py of 3.8, make_block_ptr).
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from triage.source.module import Edit, Module, argument, assignments, called, calls, entries, uses
from triage.suggest.rewrites.recipe import Rewritten, Subject
from triage.suggest.rewrites.scope import functions, language, root

_HINTS = {"boundary_check", "padding_option", "cache_modifier", "eviction_policy"}
"""Keywords of an access that a descriptor does without: it checks every dimension, and the others are hints."""


@dataclass(frozen=True, slots=True)
class _Pointer:
    name: str
    assignment: ast.Assign
    call: ast.Call
    advances: tuple[tuple[ast.Assign, ast.Call], ...]


def block_pointers_as_descriptors(subject: Subject) -> Iterator[Rewritten]:
    """Every block pointer of the failing function, where each has contiguous rows and is only loaded, stored and
    advanced."""
    module = subject.module
    tl = language(module)
    if tl is None:
        return
    for function in functions(subject):
        pointers = [_pointer(function, call) for call in calls(function, "make_block_ptr")]
        edits: list[Edit] = []
        for pointer in pointers:
            more = _edits(module, function, pointer, tl) if pointer is not None else None
            if more is None:
                return
            edits += more
        bases = dict.fromkeys(
            root(subject, argument(pointer.call, 0, "base")) or pointer.name for pointer in pointers if pointer
        )
        names = ", ".join(bases)
        yield from subject.rewritten(
            edits,
            "tensor descriptors in place of block pointers",
            "this release has no block pointers; a descriptor of the same shape and strides reads the same blocks",
            caller=f"{names}: addresses and strides must be multiples of 16 bytes, the shapes must cover all that is "
            "accessed, and triton.set_allocator must have been called (TMA descriptors are made in its memory)",
        )


def _pointer(function: ast.FunctionDef, call: ast.Call) -> _Pointer | None:
    """A name that is made once, and else advanced only."""
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is call:
                others = [assignment for assignment in assignments(function, name) if assignment is not node]
                advances = tuple(
                    (other, other.value)
                    for other in others
                    if isinstance(other, ast.Assign) and isinstance(other.value, ast.Call)
                    if called(other.value) == "advance"
                )
                return _Pointer(name, node, call, advances) if len(advances) == len(others) else None
    return None


def _edits(module: Module, function: ast.FunctionDef, pointer: _Pointer, tl: str) -> list[Edit] | None:
    parameters = ("base", "shape", "strides", "offsets", "block_shape")
    base, *lists_written = [argument(pointer.call, index, name) for index, name in enumerate(parameters)]
    shape, strides, offsets, block = map(entries, lists_written)
    # The text must state that the last stride is 1, or the descriptor is refused.
    last = strides[-1] if strides else None
    if base is None or not isinstance(last, ast.Constant) or last.value != 1:
        return None
    if not len(shape) == len(strides) == len(offsets) == len(block):
        return None
    steps = [entries(argument(advance, 1, "offsets")) for _, advance in pointer.advances]
    moved = [any(axis >= len(step) or not _is_zero(step[axis]) for step in steps) for axis in range(len(offsets))]
    # An offset that is a number and stays it needs no variable.
    names = [
        module.segment(offset) if isinstance(offset, ast.Constant) and not moves else f"{pointer.name}_{axis}"
        for axis, (offset, moves) in enumerate(zip(offsets, moved, strict=True))
    ]
    if {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & set(names):
        return None
    lists = ", ".join(f"[{', '.join(map(module.segment, extents))}]" for extents in (shape, strides, block))
    indent = "\n" + " " * pointer.assignment.col_offset
    pairs = [(name, module.segment(offset)) for name, offset in zip(names, offsets, strict=True)]
    starts = [f"{name} = {offset}" for name, offset in pairs if name != offset]
    edits = [
        module.replace(pointer.call, f"{tl}.make_tensor_descriptor({module.segment(base)}, {lists})"),
        module.after(pointer.assignment, "".join(f"{indent}{start}" for start in starts)),
    ]
    reached = {id(node) for node in ast.walk(pointer.call)}
    for statement, advance in pointer.advances:
        step = _advanced(module, pointer.name, statement, advance, names)
        if step is None:
            return None
        edits.append(step)
        reached |= {id(node) for node in ast.walk(advance)}
    for node in calls(function, "load", "store"):
        first = argument(node, 0, "pointer")
        if isinstance(first, ast.Name) and first.id == pointer.name:
            access = _access(module, node, names, pointer.name)
            if access is None:
                return None
            edits += access
            reached.add(id(first))
    return None if any(id(use) not in reached for use in uses(function, pointer.name)) else edits


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _advanced(module: Module, name: str, statement: ast.Assign, call: ast.Call, names: list[str]) -> Edit | None:
    """``p = tl.advance(p, (0, BLOCK))`` as ``p_1 += BLOCK``."""
    pointer, steps = argument(call, 0, "base"), entries(argument(call, 1, "offsets"))
    if not isinstance(pointer, ast.Name) or pointer.id != name or len(steps) != len(names):
        return None
    indent = "\n" + " " * statement.col_offset
    moved = [
        f"{offset} += {module.segment(step)}" for offset, step in zip(names, steps, strict=True) if not _is_zero(step)
    ]
    return module.replace(statement, indent.join(moved) or "pass")


def _access(module: Module, call: ast.Call, names: list[str], pointer: str) -> tuple[Edit, ...] | None:
    """``tl.load(p, …)`` as ``p.load([p_0, p_1])``, and a store likewise, around a value whose text stays."""
    keywords = {word.arg: word.value for word in call.keywords}
    padding = keywords.get("padding_option")
    if padding is not None and not (isinstance(padding, ast.Constant) and padding.value in ("", "zero")):
        return None
    if set(keywords) - _HINTS - {"pointer", "value"} or len(call.args) > (1 if called(call) == "load" else 2):
        return None
    start, end = module.span(call)
    where = f"{pointer}.{called(call)}([{', '.join(names)}]"
    if called(call) == "load":
        return (Edit(start, end, f"{where})"),)
    value = argument(call, 1, "value")
    if value is None:
        return None
    value_start, value_end = module.span(value)
    opened, closed = ("(", ")") if isinstance(value, ast.NamedExpr) else ("", "")
    return Edit(start, value_start, f"{where}, {opened}"), Edit(value_end, end, f"{closed})")
