"""What is known of an expression of a kernel, and what operations make of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from triage.drafts.jitted import Jitted

FLOATS = frozenset(["fp8e4nv", "fp8e5", "fp8e4b8", "fp8e4b15", "fp8e5b16", "fp16", "bf16", "fp32", "fp64"])
DTYPES = {
    "float8e4nv": "fp8e4nv", "float8e5": "fp8e5", "float8e4b8": "fp8e4b8", "float8e4b15": "fp8e4b15",
    "float8e5b16": "fp8e5b16", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64",
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
"""Names in triton.language, and in signatures."""


@dataclass(frozen=True, slots=True)
class Types:
    """A type as a value: ``x.dtype``."""

    name: str


@dataclass(frozen=True, slots=True)
class Term:
    """What is known of an expression.

    ``addends``: parameters that are summands of it, so that they may be the address in it. ``scalars``: parameters
    that entered it by arithmetic. ``elements``: pointers whose elements did. ``type``: of its elements: a name as in
    signatures, ``elem:NAME`` for what a pointer leads to, ``param:NAME``; "" where nothing is known. ``index``: whether
    it is a position, or computed from one. ``parameter``: the parameter that it is, unchanged.
    """

    addends: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()
    elements: frozenset[str] = frozenset()
    type: str = ""
    index: bool = False
    parameter: str | None = None
    value: Any = None
    known: bool = False
    items: tuple[Term, ...] | None = None
    function: Jitted | None = None
    descriptor: str | None = None

    @property
    def is_float(self) -> bool:
        return self.type in FLOATS


NOTHING = Term()
INDEX = Term(type="i32", index=True)


def either(left: Term | None, right: Term | None) -> Term:
    """What is known of a value that is one of two."""
    if left is None or right is None or left == right:
        return left or right or NOTHING
    if left.items is not None and right.items is not None and len(left.items) == len(right.items):
        return Term(items=tuple(map(either, left.items, right.items)))
    return Term(
        left.addends | right.addends,
        left.scalars | right.scalars,
        left.elements | right.elements,
        promoted(left, right),
        left.index or right.index,
        left.parameter if left.parameter == right.parameter else None,
        descriptor=left.descriptor or right.descriptor,
        function=left.function or right.function,
    )


def promoted(left: Term, right: Term) -> str:
    """The type of an operation: floats win, and of those the wider."""
    for term in (left, right):
        if term.known and isinstance(term.value, int | float) and not isinstance(term.value, bool):
            # Triton takes a Python number as the type of the tensor beside it.
            return right.type if term is left else left.type
    for name in ("fp64", "fp32"):
        if name in (left.type, right.type):
            return name
    for term, opposite in ((left, right), (right, left)):
        if term.type.startswith("elem:"):
            return term.type if not opposite.is_float else opposite.type
    if left.type.startswith("param:"):
        return right.type if not right.type.startswith("param:") else ""
    return left.type or ("" if right.type.startswith("param:") else right.type)


def folded(left: Any, op: ast.operator, right: Any) -> int | float | None:
    """The result of an operation of two numbers."""
    if not isinstance(left, int | float) or not isinstance(right, int | float) or abs(left) + abs(right) > 1 << 40:
        return None
    try:
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
            case ast.FloorDiv():
                return left // right
    except (ArithmeticError, ValueError):
        pass
    return None
