"""Values of a program as a case states them: the type of an argument, or a constant."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from triage.drafts.cute.layouts import mark_layout_dynamic, of_dlpack
from triage.drafts.cute.symbols import Symbol
from triage.drafts.cute.values import (
    CuteTensor,
    ElementType,
    Namespace,
    ObjectValue,
    PointerValue,
    StreamValue,
    TorchTensor,
    TypedNumber,
    is_guessed,
)
from triage.drafts.host.values import Foreign, Unknown
from triage.harness.worker.cute import grammar

_CONSTANTS = ("cutlass", "operator")
"""Roots of the objects that a case can name (``harness/worker/values.py``)."""


@dataclass(frozen=True, slots=True)
class DescribedValue:
    """``value``: the text of a type, or with ``constant`` a JSON value. ``exact``: sources state all of it. ``origin``:
    where a tensor is made."""

    value: Any
    constant: bool
    exact: bool = True
    origin: str = ""


class Undescribed(Exception):
    """A case cannot state the value; the message says what it is."""


def annotation_name(annotation: ast.expr | None) -> str:
    """``Tensor`` of ``cute.Tensor``, ``Constexpr`` of ``cutlass.Constexpr[int]``; also of an annotation in quotes, and
    of the first alternative of several."""
    match annotation:
        case ast.Subscript(value=value, slice=index):
            outer = annotation_name(value)
            if outer in ("Optional", "Union", "Annotated"):
                return annotation_name(index.elts[0] if isinstance(index, ast.Tuple) else index)
            return outer
        case ast.BinOp(left=left, op=ast.BitOr()):
            return annotation_name(left)
        case ast.Attribute(attr=attribute):
            return attribute
        case ast.Name(id=name):
            return name
        case ast.Constant(value=str() as text):
            try:
                return annotation_name(ast.parse(text, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return ""
    return ""


_SCALARS = {name: short for short, name in grammar.DTYPES.items()}


def argument(value: Any, annotation: ast.expr | None) -> DescribedValue:
    """An argument of a host function. Raises Undescribed."""
    name = annotation_name(annotation)
    if name in _SCALARS and isinstance(value, int | float | TypedNumber | Unknown):
        return DescribedValue(_SCALARS[name], False)
    # A number of Python is passed as one: the DSL decides by the annotation whether it is known to the compile.
    if name == "Constexpr" or value is None or isinstance(value, str | ElementType | Foreign | int | float):
        return constant(value)
    exact = not is_guessed(value)
    origin = value.where if isinstance(value, TorchTensor | CuteTensor) else ""
    return DescribedValue(str(_type(value)), False, exact, origin)


def _type(value: Any) -> grammar.Argument:
    match value:
        case CuteTensor():
            tensor = grammar.Tensor(value.dtype, value.shape, value.stride, value.space, value.align)
            try:
                grammar.parse(str(tensor))
            except grammar.BadType as problem:
                raise Undescribed(f"a tensor that a case cannot state ({problem})") from None
            return tensor
        case TorchTensor():
            described = of_dlpack(value, None)
            if described is None:
                raise Undescribed("a tensor whose dimensions no source states")
            mark_layout_dynamic(described, None)  # As the DSL's own adapter does.
            return _type(described)
        case PointerValue(dtype=dtype, space=space, align=align):
            return grammar.Pointer(dtype, space, align)
        case StreamValue() | Namespace(attributes={"cuda_stream": _}):
            return grammar.Stream()
        case bool():
            return grammar.Scalar("i1")
        case int():
            return grammar.Scalar("i32" if -(1 << 31) <= value < 1 << 31 else "i64")
        case float():
            return grammar.Scalar("f32")
        case TypedNumber(dtype=dtype):
            return grammar.Scalar(dtype)
        case grammar.Dynamic():
            return grammar.Scalar("i32")
        case tuple() | list():
            return grammar.Group(tuple(_type(each) for each in value))
    raise Undescribed(_what(value))


def constant(value: Any) -> DescribedValue:
    """A constexpr, or an argument of a constructor. Raises Undescribed."""
    return DescribedValue(_json(value), True, not is_guessed(value))


def _json(value: Any) -> Any:
    match value:
        case None | bool() | float() | str():
            return value
        case int():
            return int(value)
        case ElementType(name=name):
            return f"cutlass.{grammar.DTYPES[name]}"
        case Foreign(name=name) if value.root in _CONSTANTS:
            return name.replace("cutlass.cute.", "cute.", 1)
        case tuple() | list():
            return [_json(each) for each in value]
        case TypedNumber(value=inner):
            return _json(inner)
    raise Undescribed(_what(value))


def _what(value: Any) -> str:
    match value:
        case Unknown() | Symbol():
            return "what the program passes could not be followed"
        case ObjectValue(cls=cls):
            return f"an object of {cls.node.name}, which a case cannot state"
        case tuple() | list() as items if items and isinstance(items, Sequence):
            return _what(items[0])
    return f"a {type(value).__name__}, which a case cannot state"
