"""Integer expressions over a case's sizes: ``cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)``.

Parsed with ``ast`` and walked here; Python never evaluates them. The text and every intermediate value are bounded, so
that a hostile case cannot take long or give a number that no argument and no grid can hold.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

Lookup: TypeAlias = Callable[[str], int]
"""The value of a name. Raises BadExpression for one that has none."""

_MOST_CHARACTERS = 400
"""Longer than any handwritten grid, short enough for the parser's recursion."""
_BOUND = 1 << 63
"""The widest integer argument has 64 bits."""


class BadExpression(ValueError):
    """The text is not an expression, or it has no value. ``str`` is the reason."""


def parse(text: str) -> ast.expr:
    """The syntax tree of an expression of integers, names, ``+ - * // %`` and the functions ``cdiv``, ``min``, ``max``
    and ``next_power_of_2``. Raises BadExpression."""
    if len(text) > _MOST_CHARACTERS:
        raise BadExpression(f"an expression has at most {_MOST_CHARACTERS} characters, this one has {len(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadExpression(f"{text!r} is not an expression; write for instance 'cdiv(M, BLOCK_M)'") from None
    _check(tree)
    return tree


def evaluate(tree: ast.expr, value_of: Lookup) -> int:
    """The value of a parsed expression. Raises BadExpression: no value of a name, a division by zero, more than
    64 bits."""
    match tree:
        case ast.Constant(value=int() as value):
            return _bounded(value)
        case ast.Name(id=name):
            return _bounded(value_of(name))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _bounded(-evaluate(operand, value_of))
        case ast.BinOp(left=left, op=op, right=right):
            return _bounded(_OPERATORS[type(op)](evaluate(left, value_of), evaluate(right, value_of)))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _bounded(_FUNCTIONS[name](*(evaluate(argument, value_of) for argument in args)))
    raise AssertionError(ast.dump(tree))  # parse() accepts nothing else


def names(tree: ast.expr) -> set[str]:
    """The names whose values an expression needs."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}


def _dividing(symbol: str, divide: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def checked(dividend: int, divisor: int) -> int:
        if divisor == 0:
            raise BadExpression(f"{dividend} {symbol} 0 has no value")
        return divide(dividend, divisor)

    return checked


def _cdiv(dividend: int, divisor: int) -> int:
    if divisor <= 0:
        raise BadExpression(f"cdiv({dividend}, {divisor}): the divisor must be positive")
    return -(-dividend // divisor)


def _next_power_of_2(value: int) -> int:
    if value < 1:
        raise BadExpression(f"next_power_of_2({value}): the argument must be positive")
    return 1 << (value - 1).bit_length()


_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.FloorDiv: _dividing("//", operator.floordiv),
        ast.Mod: _dividing("%", operator.mod),
    }
)
_FUNCTIONS: Mapping[str, Callable[..., int]] = MappingProxyType(
    {"cdiv": _cdiv, "min": min, "max": max, "next_power_of_2": _next_power_of_2}
)
_ARGUMENTS = {"cdiv": (2, 2), "min": (2, 8), "max": (2, 8), "next_power_of_2": (1, 1)}
"""The least and the most arguments of each function."""


def _check(tree: ast.expr) -> None:
    match tree:
        case ast.Constant(value=value) if type(value) is not int:
            raise BadExpression(f"{value!r} is not an integer")
        case ast.Constant() | ast.Name():
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand)
        case ast.BinOp(op=ast.Div()):
            raise BadExpression("'/' is not an integer operation; write '//' or cdiv(a, b)")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left)
            _check(right)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            least, most = _ARGUMENTS[name]
            if not least <= len(args) <= most:
                wanted = str(least) if least == most else f"{least} to {most}"
                raise BadExpression(f"{name} takes {wanted} argument{'s' * (most > 1)}, not {len(args)}")
            for argument in args:
                _check(argument)
        case _:
            raise BadExpression(
                f"{ast.unparse(tree)!r} is not allowed; there are integers, names, + - * // % and "
                f"{', '.join(sorted(_FUNCTIONS))}"
            )


def _bounded(value: int) -> int:
    if not -_BOUND <= value < _BOUND:
        raise BadExpression("a value does not fit into 64 bits")
    return value
