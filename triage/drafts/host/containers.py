"""Items of tuples, lists and dictionaries of which only a part may be known."""

from __future__ import annotations

import ast
from typing import Any

from triage.drafts.host.values import (
    UNKNOWN,
    Abstract,
    Alternatives,
    Const,
    Dtype,
    Int,
    Items,
    Mapped,
    TensorValue,
    Unknown,
    constant_value,
    merged,
)


def key_of(value: Abstract) -> Any:
    """A value as a key of a dictionary."""
    match value:
        case Const(value=constant):
            return constant
        case Int(value=number, exact=True):
            return number
    return value


def entry_at(entries: tuple[tuple[Any, Alternatives], ...], at: Abstract) -> Alternatives:
    key = key_of(at)
    for known, values in entries:
        if known == key and not isinstance(at, Unknown) and at != Dtype():
            return values
    all_values = [values for _, values in entries]
    # A table of types, asked for that of the user's tensor.
    if at == Dtype() and all(isinstance(values[0], Dtype) for values in all_values):
        return (Dtype(),)
    return merged(*all_values)


def integer_of(values: Alternatives) -> Int:
    return next((value for value in values if isinstance(value, Int)), Int())


def each_of(values: Alternatives) -> Alternatives:
    """What a loop over a value gives."""
    match values[0]:
        case Items(items=items):
            return merged(*items) if items else UNKNOWN
        case Mapped(entries=entries):
            return merged(constant_value(key) for key, _ in entries)
        case TensorValue(dtype=dtype):
            return (TensorValue(dtype),)
    return UNKNOWN


def item_of(value: Abstract, index: int, count: int) -> Alternatives:
    match value:
        case Items(items=items, open=True):
            return items[0]
        case Items(items=items) if len(items) == count:
            return items[index]
        case Items(items=items) if index < len(items):
            return items[index]
    return UNKNOWN


def sliced(value: Items, at: ast.Slice) -> Alternatives:
    if value.open:
        return (value,)
    bounds: list[int | None] = []
    for each in (at.lower, at.upper):
        match each:
            case None:
                bounds.append(None)
            case ast.Constant(value=int(number)):
                bounds.append(number)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                bounds.append(-number)
            case _:
                return (Items((merged(*value.items),), open=True),)
    return (Items(value.items[bounds[0] : bounds[1]]),)
