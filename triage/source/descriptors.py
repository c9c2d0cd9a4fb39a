"""Which constexpr steps along which axis of a tensor descriptor that the caller passes.

The caller fixes the block of such a descriptor. A tile of the kernel that steps by another extent than it loads
computes something else, so the two change together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from triage.source.functions import parameters
from triage.source.module import argument
from triage.source.parameters import reachable

_TYPE = re.compile(r"(tensordesc(?:_im2col)?<[^\[\]]*\[)([\d, ]+)(\].*)\Z")
_METHODS = frozenset(
    {"load", "store", "atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor"}
)
_FUNCTIONS = frozenset({"load_tensor_descriptor", "store_tensor_descriptor"})
_HINTS = frozenset({"multiple_of", "max_contiguous", "cast", "assume"})
_RANGES = frozenset({"range", "static_range"})

Axis = tuple[str, int]
"""A parameter of the kernel, and an axis of the descriptor that it is."""


def steps(source: str, kernel: str) -> dict[Axis, frozenset[str]]:
    """By which parameters each axis is stepped, of the descriptors that the kernel loads and stores. An axis that only
    constants index has none; an axis that is not in the result is not understood."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    parameters_by_axis: dict[Axis, frozenset[str]] = {}
    passed: dict[str, dict[str, frozenset[str]]] = {}
    for name, renamed in reachable(functions, kernel).items() if kernel in functions else ():
        reader = _StepReader(functions[name], renamed, passed.get(name, {}))
        for axis, names in reader.read():
            parameters_by_axis[axis] = parameters_by_axis.get(axis, frozenset()) | names
        for callee, values in reader.calls(functions):
            passed.setdefault(callee, values)
    return parameters_by_axis


class _StepReader:
    """One function, under the kernel's names. ``passed``: what steps its parameters, from its first call."""

    def __init__(
        self, function: ast.FunctionDef, renamed: Mapping[str, str], passed: Mapping[str, frozenset[str]]
    ) -> None:
        self._function, self._renamed = function, renamed
        self._locals = dict(passed)

    def read(self) -> Iterator[tuple[Axis, frozenset[str]]]:
        for _ in range(2):  # What a loop carries is known the second time.
            for node in ast.walk(self._function):
                self._bind(node)
        for node in ast.walk(self._function):
            if isinstance(node, ast.Call) and (pair := self._access(node)) is not None:
                descriptor, position = pair
                for axis, coordinate in enumerate(position):
                    yield (descriptor, axis), self._of(coordinate)

    def calls(self, functions: Mapping[str, ast.FunctionDef]) -> Iterator[tuple[str, dict[str, frozenset[str]]]]:
        """The functions of the file that it calls, with what steps their parameters."""
        for node in ast.walk(self._function):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name in functions:
                    names = [parameter.arg for parameter in parameters(functions[name])]
                    bound = {
                        **dict(zip(names, node.args, strict=False)),
                        **{w.arg: w.value for w in node.keywords if w.arg},
                    }
                    yield name, {parameter: self._of(value) for parameter, value in bound.items()}

    def _bind(self, node: ast.AST) -> None:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AugAssign(target=ast.Name(id=name), value=value)
            ):
                self._add(name, value)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=called, args=[low, _, step])) if (
                _name(called) in _RANGES
            ):
                self._add(name, low)
                self._add(name, step)

    def _add(self, name: str, value: ast.expr) -> None:
        self._locals[name] = self._locals.get(name, frozenset()) | self._of(value)

    def _of(self, node: ast.expr) -> frozenset[str]:
        match node:
            case ast.Name(id=name):
                return (
                    frozenset({self._renamed[name]}) if name in self._renamed else self._locals.get(name, frozenset())
                )
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                # A number of blocks times their extent: what the number is made of does not matter.
                direct = [side for side in (left, right) if isinstance(side, ast.Name) and side.id in self._renamed]
                return frozenset().union(*map(self._of, direct or (left, right)))
            case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
                return self._of(left) | self._of(right)
            case ast.IfExp(body=body, orelse=other):
                return self._of(body) | self._of(other)
            case ast.Call(func=ast.Attribute(value=value, attr="to")):
                return self._of(value)
            case ast.Call(func=called, args=[first, *_]) if _name(called) in _HINTS:
                return self._of(first)
        return frozenset()

    def _access(self, node: ast.Call) -> tuple[str, list[ast.expr]] | None:
        match node.func:
            case ast.Attribute(value=ast.Name(id=name), attr=method) if method in _METHODS and name in self._renamed:
                descriptor, position = name, argument(node, 0, "offsets")
            case _ if _name(node.func) in _FUNCTIONS and isinstance(first := argument(node, 0, "desc"), ast.Name):
                descriptor, position = first.id, argument(node, 1, "offsets")
            case _:
                return None
        if descriptor not in self._renamed or not isinstance(position, ast.List | ast.Tuple):
            return None
        return self._renamed[descriptor], position.elts


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def extents(type_: Any) -> tuple[int, ...]:
    """The block of a descriptor's type; empty for another type."""
    match = _TYPE.match(type_) if isinstance(type_, str) else None
    return tuple(int(extent) for extent in match[2].split(",")) if match else ()


def with_extents(type_: str, block: tuple[int, ...]) -> str:
    """The type with another block."""
    match = _TYPE.match(type_)
    return f"{match[1]}{', '.join(map(str, block))}{match[3]}" if match else type_
