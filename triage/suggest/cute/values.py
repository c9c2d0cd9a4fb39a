"""StaticValues of expressions of a CuTe file under a configuration, read from the text: nothing is run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triage.harness.worker.cute import grammar
from triage.source.module import called
from triage.source.operators import BINARY
from triage.suggest.cute.elements import is_dtype, short
from triage.suggest.cute.flow import SourceFlow

_DTYPES = {title: name for name, title in grammar.DTYPES.items()}
_MOST_HOPS = 8
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
"""What stays an integer, and small."""


@dataclass(frozen=True, slots=True)
class StaticValues:
    """Expressions of a file, where the case has these compile-time values."""

    flow: SourceFlow
    stated: Mapping[str, Any]

    def of(self, node: ast.expr | None, hops: int = _MOST_HOPS) -> Any:
        """A number, a text, a tuple of values, an element type by its short name, a member of an enumeration by its
        name; None where the text does not show it, or it differs between calls."""
        if node is None or hops == 0:
            return None
        match node:
            case ast.Constant(value=int() | str() as value):
                return value
            case ast.Tuple(elts=items) | ast.List(elts=items):
                values = tuple(self.of(item, hops) for item in items)
                return None if None in values else values
            case ast.Attribute(value=ast.Name(), attr=title) if title in _DTYPES:
                return _DTYPES[title]
            case ast.Attribute(value=ast.Attribute(), attr=member) if member.isupper():
                return member
            case ast.BinOp(left=left, op=symbol, right=right):
                return self._computed(symbol, self.of(left, hops), self.of(right, hops))
            case ast.Subscript(value=table, slice=key):
                return self._entry(table, self.of(key, hops), hops)
            case ast.Name() | ast.Attribute():
                return self._variable(node, hops)
        return None

    def _computed(self, symbol: ast.operator, left: Any, right: Any) -> int | None:
        if not isinstance(symbol, _ARITHMETIC) or type(left) is not int or type(right) is not int:
            return None
        divides = isinstance(symbol, ast.FloorDiv | ast.Mod)
        return None if divides and right == 0 else int(BINARY[type(symbol)](left, right))

    def _entry(self, table: ast.expr, key: Any, hops: int) -> Any:
        """An element of a tuple, or what a dictionary of the file has for a key."""
        variable = self.flow.variable(table)
        for source in self.flow.sources(variable) if variable else ():
            if isinstance(source, ast.Dict):
                keys = [self.of(each, hops - 1) for each in source.keys]
                return self.of(source.values[keys.index(key)], hops - 1) if key in keys else None
        held = self.of(table, hops - 1)
        is_index = isinstance(held, tuple) and type(key) is int and -len(held) <= key < len(held)
        return held[key] if is_index else None

    def _variable(self, node: ast.expr, hops: int) -> Any:
        name = self.flow.origin(node)
        if name is not None and name in self.stated:
            return _plain(self.stated[name])
        variable = self.flow.variable(node)
        values = [self.of(source, hops - 1) for source in self.flow.sources(variable)] if variable else []
        # One of several names that are bound together is not the whole value.
        unpacked = any(isinstance(value, tuple) for value in values) and self._is_unpacked(variable)
        return values[0] if values and all(value == values[0] for value in values) and not unpacked else None

    def _is_unpacked(self, variable: tuple[str, str] | None) -> bool:
        return any(
            isinstance(target, ast.Tuple) and any(self.flow.variable(item) == variable for item in target.elts)
            for node in ast.walk(self.flow.tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
        )

    def calls(self, *names: str) -> Iterator[tuple[ast.Call, list[Any], dict[str, Any]]]:
        """Calls of functions by the last part of their names, with the values of their arguments."""
        for node in ast.walk(self.flow.tree):
            if isinstance(node, ast.Call) and called(node) in names:
                named = {word.arg: self.of(word.value) for word in node.keywords if word.arg}
                yield node, [self.of(argument) for argument in node.args], named


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_plain, value))
    return short(value) if is_dtype(value) else value
