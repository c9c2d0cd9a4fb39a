"""Operators, comparisons and functions of numbers, on what is known of their operands."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from triage.drafts.device.terms import DTYPES
from triage.drafts.host.values import (
    FALSE,
    MOST_ALTERNATIVES,
    MOST_NUMBER,
    TORCH_TYPES,
    TRUE,
    UNKNOWN,
    Abstract,
    Alternatives,
    Const,
    Dtype,
    Float,
    Foreign,
    Int,
    Items,
    KernelValue,
    Mapped,
    TensorValue,
    Unknown,
    certain,
    merged,
    truth,
)
from triage.drafts.names import usual_size
from triage.source.operators import BINARY, COMPARISONS


def foreign(name: str) -> Alternatives:
    owner, _, last = name.rpartition(".")
    if owner == "torch" and last in TORCH_TYPES:
        return (Dtype(TORCH_TYPES[last]),)
    if owner.endswith(("triton.language", "triton.language.core", "tl")) and last in DTYPES:
        return (Dtype(DTYPES[last]),)
    if owner == "math":
        number = getattr(math, last, None)
        if isinstance(number, float):
            return (Float(number, True),)
    return (Foreign(name),)


def with_usual_size(values: Alternatives, name: str) -> Alternatives:
    """Integers of unknown value with the size that is usual for what has this name."""
    if not any(isinstance(value, Int) and value.value is None and value.stride is None for value in values):
        return values
    return tuple(
        replace(value, value=usual_size(name))
        if isinstance(value, Int) and value.value is None and value.stride is None
        else value
        for value in values
    )


def unary_operation(op: ast.unaryop, value: Abstract) -> Abstract:
    match op, value:
        case ast.Not(), _:
            answer = truth(value)
            return Unknown() if answer is None else Const(not answer)
        case ast.USub(), Int(value=int(number)):
            return Int(-number, value.exact)
        case ast.USub(), Float(value=float(real)):
            return Float(-real, value.exact)
        case ast.USub(), Int() | Float() | TensorValue():
            return value
    return Unknown()


def operation(left: Abstract, op: ast.operator, right: Abstract) -> Abstract:
    match left, right:
        case TensorValue(), TensorValue():
            if left.dtype is None or right.dtype is None:
                return TensorValue(None if left.dtype != "fp32" and right.dtype != "fp32" else "fp32", left.sizes)
            return left
        case TensorValue(), _:
            return replace(left, transposed=False)
        case _, TensorValue():
            return replace(right, transposed=False)
        case Items(open=False), Items(open=False) if isinstance(op, ast.Add):
            return Items((*left.items, *right.items))
        case Items(open=False), Int(value=int(count), exact=True) if isinstance(op, ast.Mult) and count <= 8:
            return Items(left.items * count)
        case (Int() | Float(), Int() | Float()):
            return _number(left, op, right)
        case (Int() | Float(), Unknown()) | (Unknown(), Int() | Float()):
            known = left if isinstance(left, Int | Float) else right
            if isinstance(op, ast.Div) or isinstance(known, Float):
                return Float()
            # Sizes are multiplied and divided by unknown numbers.
            return Int() if isinstance(op, ast.FloorDiv | ast.Mod) else Unknown()
    return Unknown()


def _number(left: Int | Float, op: ast.operator, right: Int | Float) -> Int | Float:
    exact = left.exact and right.exact
    integral = isinstance(left, Int) and isinstance(right, Int) and not isinstance(op, ast.Div)
    if isinstance(op, ast.Pow) and isinstance(right, Int) and right.value is not None and right.value < 0:
        integral = False
    if left.value is None or right.value is None:
        return Int() if integral else Float()
    number: Any = None
    function = BINARY.get(type(op))
    small = not isinstance(op, ast.Pow | ast.LShift) or abs(right.value) <= 64
    if function is not None and small and abs(left.value) < MOST_NUMBER and abs(right.value) < MOST_NUMBER:
        try:
            number = function(left.value, right.value)
        except (ArithmeticError, ValueError, TypeError):
            number = None
    if isinstance(number, complex) or (isinstance(number, int) and abs(number) >= MOST_NUMBER):
        number = None
    if isinstance(number, float) or not integral:
        return Float(float(number) if number is not None else None, exact and number is not None)
    return Int(number, exact and number is not None)


def comparison(left: Abstract, op: ast.cmpop, right: Abstract) -> list[Abstract]:
    """The answers of a comparison, the likeliest first."""
    negated = isinstance(op, ast.NotEq | ast.IsNot | ast.NotIn)
    match left, right:
        case (Unknown(), Const(value=None)) if isinstance(op, ast.Is | ast.IsNot):
            return [Const(negated), Const(not negated)]
        case (_, Const(value=None)) | (Const(value=None), _) if isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            return [Const((left == right) != negated)]
        case (Dtype(), Dtype()) if isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            if left.name is not None and right.name is not None:
                return [Const((left.name == right.name) != negated)]
            return [Const(negated), Const(not negated)]
        case (Dtype(), Items() | Mapped()):
            return [Const(not negated), Const(negated)]
        case (Const(), Const()) if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            return [Const((left.value == right.value) != negated)]
        case (Int() | Float(), Int() | Float()) if left.value is not None and right.value is not None:
            function = COMPARISONS.get(type(op))
            if function is not None:
                answer = function(left.value, right.value)
                return [Const(answer)] if left.exact and right.exact else [Const(answer), Const(not answer)]
        case (Const() | Int(), Items(items=items, open=False)) if isinstance(op, ast.In | ast.NotIn):
            if any(left in item for item in items):
                return [Const(not negated)]
            if all(isinstance(each, Const | Int) for item in items for each in item) and certain((left,)) is not None:
                return [Const(negated)]
    return [Unknown()]


def computed(name: str, positional: list[Alternatives]) -> Alternatives:
    """The result of a function of numbers, for the likeliest and for each other value of its arguments."""
    if not positional:
        return UNKNOWN
    first = [values[0] for values in positional]
    rows = [first]
    for index, values in enumerate(positional):
        rows += [[*first[:index], other, *first[index + 1 :]] for other in values[1:]]
    return merged(_calculated(name, row) for row in rows[:MOST_ALTERNATIVES])


def _calculated(name: str, values: list[Abstract]) -> Abstract:
    floats = name in ("sqrt", "log2", "log", "exp") or (
        name in ("min", "max") and any(isinstance(value, Float) for value in values)
    )
    numbers = [value.value for value in values if isinstance(value, Int | Float)]
    # min(BLOCK, something unknown) is most often what is known.
    known = [number for number in numbers if number is not None]
    whole = len(known) == len(values)
    exact = whole and all(value.exact for value in values if isinstance(value, Int | Float))
    if not known or (not whole and name not in ("min", "max")):
        return Float() if floats else Int()
    try:
        result = _FUNCTIONS[name](*known)
    except (ArithmeticError, ValueError, TypeError):
        return Float() if floats else Int()
    if isinstance(result, float):
        return Float(result, exact)
    return Int(result, exact) if abs(result) < MOST_NUMBER else Int()


def _next_power_of_2(number: int) -> int:
    return 1 << max(int(number) - 1, 0).bit_length() if abs(number) < MOST_NUMBER else 0


def _divided(number: int, by: int) -> int:
    return -(-int(number) // int(by))


_FUNCTIONS: dict[str, Callable[..., int | float]] = {
    "cdiv": _divided, "ceil_div": _divided, "next_power_of_2": _next_power_of_2, "ceil": math.ceil,
    "floor": math.floor, "sqrt": math.sqrt, "log2": math.log2, "log": math.log, "exp": math.exp, "gcd": math.gcd,
    "prod": lambda *numbers: math.prod(numbers), "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
}  # fmt: skip


def converted(name: str, value: Abstract) -> Abstract:
    number = value.value if isinstance(value, Int | Float) else None
    exact = isinstance(value, Int | Float) and value.exact
    match name:
        case "int" | "round":
            if isinstance(value, Const) and isinstance(value.value, bool):
                return Int(int(value.value), True)
            finite = number is not None and math.isfinite(number)
            return Int(int(number), exact) if finite and number is not None else Int()
        case "float":
            if isinstance(value, Const) and isinstance(value.value, str):
                return Float()
            return Float(float(number), exact) if number is not None else Float()
        case "bool":
            answer = truth(value)
            return Unknown() if answer is None else Const(answer)
        case "abs" if isinstance(value, Int) and value.value is not None:
            return Int(abs(value.value), exact)
        case "abs" if isinstance(value, Float) and value.value is not None:
            return Float(abs(value.value), exact)
    return value


def is_instance(value: Abstract, of: Abstract) -> Abstract:
    """The answer of ``isinstance``; nothing for classes of others but torch's tensors."""
    if isinstance(of, Items):
        answers = [is_instance(value, each[0]) for each in of.items]
        if TRUE in answers:
            return TRUE
        return FALSE if all(answer == FALSE for answer in answers) else Unknown()
    name = of.name.rpartition(".")[2] if isinstance(of, Foreign) else ""
    if name == "Tensor":
        return Unknown() if isinstance(value, Unknown) else Const(isinstance(value, TensorValue))
    kinds = {"int": Int, "float": Float, "tuple": Items, "list": Items, "dict": Mapped}
    match value:
        case Unknown():
            return Unknown()
        case Const(value=constant) if name in ("str", "bool", "int", "float"):
            return Const(type(constant).__name__ == name)
        case _ if name in kinds:
            return Const(isinstance(value, kinds[name]))
    return FALSE if name == "str" else Unknown()


def passed_on(positional: list[Alternatives]) -> Alternatives:
    """What an unknown function returns: the kernel or the tensor that it is passed first."""
    kernels = [value for values in positional for value in values if isinstance(value, KernelValue)]
    if kernels:
        return merged(kernels)
    for value in positional[0] if positional else ():
        if isinstance(value, TensorValue):
            return (TensorValue(value.dtype),)
    return UNKNOWN
