"""Literal values of Python source, read from its syntax tree; nothing is evaluated."""

import ast
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Called:
    """A call in place of a literal: the dotted name of its function, and its arguments."""

    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NotLiteral:
    """Source text of a non-literal expression."""

    text: str


def value(node: ast.expr) -> Any:
    """The value of an expression, with literals inside calls and containers. A set becomes a list.

    A dictionary key that is not hashable becomes its source text.
    """
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple() | ast.Set():
            items = [value(item) for item in node.elts]
            return tuple(items) if isinstance(node, ast.Tuple) else items
        case ast.Dict():
            return {_key(key): value(item) for key, item in zip(node.keys, node.values, strict=True) if key}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Call():
            keywords = {keyword.arg: value(keyword.value) for keyword in node.keywords if keyword.arg}
            return Called(ast.unparse(node.func), tuple(value(argument) for argument in node.args), keywords)
        case _:
            return NotLiteral(ast.unparse(node))


def _key(node: ast.expr) -> Any:
    key = value(node)
    try:
        hash(key)
    except TypeError:
        return ast.unparse(node)
    return key


def parse(text: str) -> ast.Module | None:
    """The syntax tree; None if the text is not Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
