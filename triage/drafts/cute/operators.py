"""Python's operators on values that may be unknown: exact where the operands are known, else unknown."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from triage.drafts.cute.symbols import Extents, Symbol, SymbolElement
from triage.drafts.cute.values import UNKNOWN, ForeignMethod, Guess, TorchTensor, TypedNumber
from triage.drafts.host.values import Foreign, Unknown
from triage.source.operators import BINARY, COMPARISONS

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    **COMPARISONS, ast.Is: operator.eq, ast.IsNot: operator.ne,
    ast.In: lambda left, right: left in right, ast.NotIn: lambda left, right: left not in right,
}  # fmt: skip
_MOST_NUMBER = 1 << 62
"""Larger integers are not computed: powers and shifts would grow without bound."""
MOST_ITEMS = 4096
"""Of a sequence that is repeated or of a range that is listed."""
_OF_BITS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_PLAIN = (int, float, str, list, tuple)


def operation(op: ast.operator, left: Any, right: Any) -> Any:
    """The result of a binary operator."""
    for operand in (left, right):
        if isinstance(operand, Symbol):
            operand.facts.counted = True
        elif isinstance(operand, SymbolElement) and isinstance(op, _OF_BITS):
            operand.symbol.facts.bits = True
    if isinstance(left, TypedNumber) or isinstance(right, TypedNumber):
        first, second = (each.value if isinstance(each, TypedNumber) else each for each in (left, right))
        return operation(op, first, second)
    if isinstance(left, TorchTensor) or isinstance(right, TorchTensor):
        return left if isinstance(left, TorchTensor) else right
    if not isinstance(left, _PLAIN) or not isinstance(right, _PLAIN):
        return UNKNOWN
    if isinstance(op, ast.Pow | ast.LShift) and isinstance(right, int | float) and abs(right) > 64:
        return UNKNOWN
    if isinstance(op, ast.Mult) and (_long(left, right) or _long(right, left)):
        return UNKNOWN
    try:
        result = BINARY[type(op)](left, right)
    except (ArithmeticError, TypeError, ValueError, KeyError):
        return UNKNOWN
    return UNKNOWN if isinstance(result, int) and abs(result) > _MOST_NUMBER else result


def unary(op: ast.unaryop, value: Any) -> Any:
    """The result of a unary operator."""
    if isinstance(op, ast.Not):
        answer = truth(value)
        return UNKNOWN if answer is None else not answer
    if isinstance(value, TorchTensor) or not isinstance(value, int | float):
        return value if isinstance(value, TorchTensor) else UNKNOWN
    if isinstance(op, ast.USub):
        return Guess(-value) if isinstance(value, Guess) else -value
    return ~value if isinstance(op, ast.Invert) and isinstance(value, int) else value


def compared(op: ast.cmpop, left: Any, right: Any) -> Any:
    """The result of one comparison: a bool, or unknown."""
    for symbol, other in ((left, right), (right, left)):
        if isinstance(symbol, Symbol):
            symbol.facts.compared += other if isinstance(other, tuple | list) else [other]
    if isinstance(op, ast.Is | ast.IsNot) and (left is None or right is None):
        other = right if left is None else left
        if isinstance(other, Unknown | Symbol | SymbolElement):
            return UNKNOWN
        return (other is None) == isinstance(op, ast.Is)
    if not _is_known(left) or not _is_known(right):
        return UNKNOWN
    try:
        return bool(_COMPARE[type(op)](left, right))
    except (TypeError, ValueError):
        return UNKNOWN


def truth(value: Any) -> bool | None:
    """What ``if value`` decides; None where that is not known."""
    match value:
        case Symbol():
            value.facts.tested = True
            return None
        case None | bool() | int() | float() | str() | list() | tuple() | dict() | range():
            return bool(value)
        case TypedNumber(value=inner):
            return truth(inner)
        case Unknown() | SymbolElement() | Extents() | Foreign() | ForeignMethod():
            return None
        case TorchTensor(shape=shape) if shape is not None:
            return None
    return True


def _long(sequence: Any, times: Any) -> bool:
    return isinstance(sequence, str | list | tuple) and isinstance(times, int) and len(sequence) * times > MOST_ITEMS


def _is_known(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_is_known, value))
    return not isinstance(value, Unknown | Symbol | SymbolElement | Extents | ForeignMethod)
