"""Constraints on a space: ``BM * BN <= 16384 and dtype != 'fp32'``. Pure.

Parsed with ``ast`` and turned into functions here; Python never evaluates the text. A constraint is evaluated for each
combination of the values of the axes that it names, and becomes a set of cells, so that its cost does not depend on the
other axes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import product
from math import prod
from typing import Any, TypeAlias

from triage.model.errors import InputError
from triage.sweeps.grid import CellSet, Grid

Values: TypeAlias = tuple[Any, ...]
_Term: TypeAlias = Callable[[Values], Any]

_MOST_CHARACTERS = 1_000
_MOST_COMBINATIONS = 2_000_000
"""Evaluations of one constraint: some seconds."""
_MOST_NUMBER = 1 << 63


class _NotAllowed(ValueError):
    """``str`` is what is wrong with the text."""


class _NoValue(ValueError):
    """``str`` is why an expression has no value for some cell."""


def allowed(texts: Iterable[str], grid: Grid) -> CellSet:
    """The cells of a grid that meet every constraint. Raises InputError for a text that is not a constraint,
    names something other than an axis, or has no value for some combination, and where no cell is left."""
    cells = grid.allowed
    for text in texts:
        try:
            for tree in _conjuncts(_parsed(text)):
                cells &= _cells(tree, text, grid)
        except RecursionError:
            raise InputError(
                f"--where {text!r:.80}: nested too deeply; write it with fewer signs or brackets"
            ) from None
        if not cells:
            raise InputError(f"--where {text!r}: no cell is left")
    return cells


def _parsed(text: str) -> ast.expr:
    if len(text) > _MOST_CHARACTERS:
        raise InputError(f"--where: {len(text)} characters; at most {_MOST_CHARACTERS}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"--where {text!r}: not an expression; write for instance 'BM * BN <= 16384'") from None


def _conjuncts(tree: ast.expr) -> list[ast.expr]:
    """Parts that are evaluated apart, each over its own axes."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [part for value in tree.values for part in _conjuncts(value)]
    return [tree]


def _cells(tree: ast.expr, text: str, grid: Grid) -> CellSet:
    """The cells, allowed or not, for which an expression is true."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {node.id: None for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    if unknown := [name for name in names if name not in grid.positions]:
        raise InputError(f"--where {text!r}: {unknown[0]} is not an axis; they are {', '.join(grid.positions)}")
    indices = sorted(grid.positions[name] for name in names)
    axes = [grid.axes[index] for index in indices]
    if (size := prod(len(axis.values) for axis in axes)) > _MOST_COMBINATIONS:
        raise InputError(f"--where {text!r}: {size:,} combinations of its axes; at most {_MOST_COMBINATIONS:,}")
    try:
        term = _term(tree, {axis.name: number for number, axis in enumerate(axes)})
    except _NotAllowed as error:
        raise InputError(f"--where {text!r}: {error}") from None
    # Positions on the last axis that hold, by those on the others: a box each.
    boxes: dict[tuple[int, ...], list[int]] = {}
    for at in product(*(range(len(axis.values)) for axis in axes)):
        values = tuple(axis.values[position] for axis, position in zip(axes, at, strict=True))
        try:
            holds = term(values)
        except _NoValue as error:
            where = ", ".join(f"{axis.name}={value}" for axis, value in zip(axes, values, strict=True))
            raise InputError(f"--where {text!r}: {error}{f' ({where})' if where else ''}") from None
        if holds:
            boxes.setdefault(at[:-1], []).append(at[-1] if at else 0)
    if not axes:
        return grid.whole if boxes else 0
    return _union(grid, indices, boxes)


def _union(grid: Grid, indices: list[int], boxes: Mapping[tuple[int, ...], list[int]]) -> CellSet:
    """The cells of all boxes: from the last axis to the first, so that each step joins sets that were made once."""
    sets: dict[tuple[int, ...], CellSet] = {
        at: reduce(operator.or_, (grid.with_value(indices[-1], position) for position in positions))
        for at, positions in boxes.items()
    }
    for index in reversed(indices[:-1]):
        joined: dict[tuple[int, ...], CellSet] = {}
        for at, cells in sets.items():
            joined[at[:-1]] = joined.get(at[:-1], 0) | (cells & grid.with_value(index, at[-1]))
        sets = joined
    return sets.get((), 0)


# ---- expressions as functions of the values


def _term(tree: ast.expr, numbers: Mapping[str, int]) -> _Term:
    def of(node: ast.expr) -> _Term:
        return _term(node, numbers)

    match tree:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return lambda values: value
        case ast.Name(id=name):
            return operator.itemgetter(numbers[name])
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            terms = [of(element) for element in elements]
            return lambda values: [term(values) for term in terms]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            term = of(operand)
            return lambda values: not term(values)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _arithmetic("-", operator.sub, lambda values: 0, of(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _arithmetic(*_OPERATORS[type(op)], of(left), of(right))
        case ast.BoolOp(op=op, values=parts):
            terms = [of(part) for part in parts]
            every = all if isinstance(op, ast.And) else any
            return lambda values: every(term(values) for term in terms)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            return _comparison([_COMPARISONS[type(op)] for op in ops], [of(left), *map(of, others)])
        case ast.Subscript(value=ast.Dict(keys=[ast.Constant(), *_] as keys, values=entries), slice=index):
            # As rules have limits of several targets.
            table = [(_constant(key), of(entry)) for key, entry in zip(keys, entries, strict=True)]
            return _looked_up(dict(table), of(index))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS and arguments:
            return _call(name, [of(argument) for argument in arguments])
    raise _NotAllowed(
        f"{ast.unparse(tree)!r} is not allowed; there are axes, numbers, texts, + - * / // %, comparisons, in, and, "
        f"or, not, {', '.join(_FUNCTIONS)}"
    )


def _constant(tree: ast.expr | None) -> Any:
    if isinstance(tree, ast.Constant):
        return tree.value
    raise _NotAllowed("the keys of a table have to be numbers or texts")


def _looked_up(table: Mapping[Any, _Term], index: _Term) -> _Term:
    def value(values: Values) -> Any:
        key = index(values)
        if isinstance(key, list) or key not in table:
            raise _NoValue(f"{key!r} is not in the table")
        return table[key](values)

    return value


def _number(value: Any) -> int | float:
    if type(value) not in (int, float, bool):
        raise _NoValue(f"{value!r} is not a number")
    if not -_MOST_NUMBER < value < _MOST_NUMBER:
        raise _NoValue("a number does not fit into 64 bits")
    number: int | float = value
    return number


def _arithmetic(sign: str, apply: Callable[[Any, Any], Any], left: _Term, right: _Term) -> _Term:
    def value(values: Values) -> Any:
        first, second = _number(left(values)), _number(right(values))
        if second == 0 and sign in ("/", "//", "%"):
            raise _NoValue(f"{first} {sign} 0 has no value")
        return apply(first, second)

    return value


def _comparison(compares: list[Callable[[Any, Any], bool]], terms: list[_Term]) -> _Term:
    def holds(values: Values) -> bool:
        left = terms[0](values)
        for compare, term in zip(compares, terms[1:], strict=True):
            right = term(values)
            try:
                if not compare(left, right):
                    return False
            except TypeError:
                raise _NoValue(f"{left!r} and {right!r} cannot be compared") from None
            left = right
        return True

    return holds


def _call(name: str, terms: list[_Term]) -> _Term:
    apply, most = _FUNCTIONS[name]
    if most is not None and len(terms) != most:
        raise _NotAllowed(f"{name} takes {most} argument{'s' * (most > 1)}, not {len(terms)}")

    def value(values: Values) -> Any:
        numbers = [_number(term(values)) for term in terms]
        if name == "cdiv" and numbers[1] == 0:
            raise _NoValue(f"cdiv({numbers[0]}, 0) has no value")
        return apply(*numbers)

    return value


_OPERATORS: Mapping[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, values: value in values,
    ast.NotIn: lambda value, values: value not in values,
}
_FUNCTIONS: Mapping[str, tuple[Callable[..., Any], int | None]] = {
    "min": (lambda *numbers: min(numbers), None),
    "max": (lambda *numbers: max(numbers), None),
    "abs": (abs, 1),
    "cdiv": (lambda dividend, divisor: -(-dividend // divisor), 2),
}
"""Functions of numbers, and how many arguments each takes; None for any."""
