"""Operations on values of the host: what an operator, a comparison, an index makes of what is known of its operands."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from triage.drafts.device import DTYPES
from triage.drafts.names import usual_size
from triage.drafts.values import (
    FALSE,
    MOST_ALTERNATIVES,
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
    Kernel,
    Mapped,
    TensorValue,
    Unknown,
    certain,
    merged,
    truth,
)

_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Div: operator.truediv, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip

_MOST_NUMBER = 1 << 62


def constant_value(value: Any) -> Abstract:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return Const(value)
    if isinstance(value, int):
        return Int(value, True)
    return Float(value, True) if isinstance(value, float) else Unknown()


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


def shape_of(tensor: TensorValue) -> Items:
    if tensor.sizes is None:
        return Items(((Int(),),), open=True)
    return Items(tuple((size,) for size in tensor.sizes))


def transposed(tensor: TensorValue) -> TensorValue:
    sizes = None if tensor.sizes is None else tuple(Int() for _ in tensor.sizes)
    if tensor.sizes is not None and len(tensor.sizes) == 2:
        sizes = tensor.sizes[::-1]
    return TensorValue(tensor.dtype, sizes, not tensor.transposed)


def stated_sizes(positional: list[Alternatives], words: Mapping[str, Alternatives]) -> tuple[Int, ...] | None:
    """The dimensions that the arguments of ``torch.empty`` state."""
    stated = words.get("size", words.get("shape"))
    if stated is None and len(positional) == 1 and isinstance(positional[0][0], Items):
        stated = positional[0]
    if stated is not None:
        return None if not isinstance(stated[0], Items) or stated[0].open else tuple(map(integer_of, stated[0].items))
    if positional and all(any(isinstance(value, Int) for value in values) for values in positional):
        return tuple(map(integer_of, positional))
    return None


def product_of(sizes: tuple[Int, ...] | None) -> Int:
    if not sizes or any(size.value is None for size in sizes):
        return Int()
    number = math.prod(size.value or 0 for size in sizes)
    return Int(number if number < _MOST_NUMBER else None, all(size.exact for size in sizes))


def stated_dtype(words: Mapping[str, Alternatives], default: str | None) -> str | None:
    match words.get("dtype", UNKNOWN)[0]:
        case Dtype(name=name):
            return name
        case Const(value=None) | Unknown() if "dtype" not in words:
            return default
        case Const(value=None):
            return default
    return None


def any_float(positional: list[Alternatives]) -> bool:
    return any(
        isinstance(value, Float)
        or (isinstance(value, Items) and any(isinstance(each[0], Float) for each in value.items))
        for values in positional
        for value in values[:1]
    )


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
            # Sizes are multiplied and divided by what nobody knows.
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
    function = _OPERATIONS.get(type(op))
    small = not isinstance(op, ast.Pow | ast.LShift) or abs(right.value) <= 64
    if function is not None and small and abs(left.value) < _MOST_NUMBER and abs(right.value) < _MOST_NUMBER:
        try:
            number = function(left.value, right.value)
        except (ArithmeticError, ValueError, TypeError):
            number = None
    if isinstance(number, complex) or (isinstance(number, int) and abs(number) >= _MOST_NUMBER):
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
            function = _COMPARISONS.get(type(op))
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
    return Int(result, exact) if abs(result) < _MOST_NUMBER else Int()


def _next_power_of_2(number: int) -> int:
    return 1 << max(int(number) - 1, 0).bit_length() if abs(number) < _MOST_NUMBER else 0


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
    kernels = [value for values in positional for value in values if isinstance(value, Kernel)]
    if kernels:
        return merged(kernels)
    for value in positional[0] if positional else ():
        if isinstance(value, TensorValue):
            return (TensorValue(value.dtype),)
    return UNKNOWN
