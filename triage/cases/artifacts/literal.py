"""Values out of somebody's Python source, by its syntax tree: nothing is evaluated."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Called:
    """A call, which cannot be a value here: its function's dotted name and its arguments."""

    name: str
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Other:
    """What is no literal: its text."""

    text: str


def value(node: ast.expr) -> Any:
    """Literals as they are, inside of calls as well. A set is a list, what is hashable alone a dictionary's key."""
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
            keywords = {one.arg: value(one.value) for one in node.keywords if one.arg}
            return Called(ast.unparse(node.func), tuple(value(one) for one in node.args), keywords)
        case _:
            return Other(ast.unparse(node))


def _key(node: ast.expr) -> Any:
    found = value(node)
    try:
        hash(found)
    except TypeError:
        return ast.unparse(node)
    return found


def parse(text: str) -> ast.Module | None:
    """The syntax tree; None where the text is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
