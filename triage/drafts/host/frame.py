"""Values of the names in one run of a host function: assignments to them, and conditions that rule values out."""

from __future__ import annotations

import ast
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from triage.drafts.host.containers import integer_of, item_of
from triage.drafts.host.operations import with_usual_size
from triage.drafts.host.values import (
    NONE,
    UNKNOWN,
    Abstract,
    Alternatives,
    Class,
    Instance,
    Int,
    Items,
    Mapped,
    TensorValue,
    merged,
    truth,
)
from triage.drafts.jitted import Jitted, JittedFunctions
from triage.drafts.project import Project
from triage.drafts.project_file import ProjectFile, Scope

FOLLOWED_CALLERS = 2
"""Calls to follow backwards from a launch: the wrapper's caller states ``eps``."""
MOST_STEPS = 30_000
"""Expressions to read of one function with what it calls."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch in the source. ``arguments``: by parameter. ``options``: ``num_warps`` and the like."""

    kernel: Jitted
    scope: Scope
    node: ast.Call
    arguments: Mapping[str, Alternatives]
    options: Mapping[str, Alternatives]

    @property
    def where(self) -> str:
        """``launch in ops/norm.py:88``: the file with the folder that it is in."""
        path = self.scope.file.path
        return f"launch in {path.parent.name}{os.sep}{path.name}:{self.node.lineno}"


@dataclass(slots=True)
class FunctionReading:
    """What reading a function gave: the values of its names at its end, what it returns, the arguments of its calls,
    what it stores in attributes of its first parameter."""

    names: dict[str, Alternatives] = field(default_factory=dict)
    returned: list[Alternatives] = field(default_factory=list)
    calls: dict[int, tuple[list[Alternatives], dict[str, Alternatives]]] = field(default_factory=dict)
    attributes: dict[str, Alternatives] = field(default_factory=dict)
    launches: list[Launch] = field(default_factory=list)


class HostFunctions(Protocol):
    """What a run asks of the project: other functions, attributes of objects, names outside of the function."""

    functions: JittedFunctions
    project: Project
    inlined: dict[tuple[Any, ...], FunctionReading]
    """Readings of functions that were called with given arguments."""

    def reading(self, scope: Scope, depth: int = 0) -> FunctionReading: ...

    def attribute(self, owner: Instance | Class, name: str, depth: int) -> Alternatives: ...

    def outside(self, file: ProjectFile, name: str, depth: int) -> Alternatives: ...


class HostNames(ABC):
    """``depth``: calls between the function and the launch that is asked for; ``inlined``: calls that are read in one
    another."""

    def __init__(
        self, host: HostFunctions, scope: Scope, depth: int, inlined: int = 0, steps: list[int] | None = None
    ) -> None:
        self.host, self.scope, self.depth, self.inlined = host, scope, depth, inlined
        self.names: dict[str, Alternatives] = {}
        self.reading = FunctionReading(self.names)
        self.steps = steps if steps is not None else [0]

    @abstractmethod
    def value(self, node: ast.expr) -> Alternatives:
        """Evaluate an expression."""

    def bind(self, target: ast.expr, values: Alternatives) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = with_usual_size(values, name)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for index, each in enumerate(targets):
                    self.bind(each, merged(*(item_of(value, index, len(targets)) for value in values)))
            case ast.Starred(value=value):
                self.bind(value, UNKNOWN)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                if isinstance(self.names.get(owner, UNKNOWN)[0], Instance):
                    known = self.reading.attributes.get(name, ())
                    self.reading.attributes[name] = merged(known, values)
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
                match self.names.get(name, UNKNOWN)[0]:
                    case Mapped(entries=entries):
                        unchanged = tuple(entry for entry in entries if entry[0] != key)
                        self.names[name] = (Mapped((*unchanged, (key, values))),)

    def unpacked(self, target: ast.expr, value: ast.expr) -> None:
        """``B, T, H = x.shape``: the tensor has these dimensions."""
        match target, value:
            case ast.Tuple(elts=names), (
                ast.Attribute(value=ast.Name(id=tensor), attr="shape")
                | ast.Call(func=ast.Attribute(value=ast.Name(id=tensor), attr="size"), args=[])
            ) if all(isinstance(name, ast.Name) for name in names):
                sizes = [self.names.get(name.id, UNKNOWN) for name in names if isinstance(name, ast.Name)]
                self.resize(tensor, tuple(integer_of(size) for size in sizes))
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                for each, other in zip(names, values, strict=True):
                    self.unpacked(each, other)
            case ast.Tuple(elts=names), ast.Tuple(elts=[ast.Starred(value=first), *rest]):
                self.unpacked(ast.Tuple(names[: len(names) - len(rest)], ast.Store()), first)

    def resize(self, name: str, sizes: tuple[Int, ...]) -> None:
        values = self.names.get(name, UNKNOWN)
        self.names[name] = tuple(
            replace(value, sizes=sizes)
            if isinstance(value, TensorValue) and value.sizes in (None, (Int(),) * len(sizes))
            else value
            for value in values
        )

    def dimensions(self, left: ast.expr, right: ast.expr) -> None:
        """``assert x.dim() == 2`` and ``assert x.shape == (a, b)``."""
        match left:
            case (
                ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="dim"))
                | ast.Attribute(value=ast.Name(id=name), attr="ndim")
            ):
                match self.value(right)[0]:
                    case Int(value=int(rank), exact=True) if rank <= 8:
                        self.resize(name, (Int(),) * rank)
            case ast.Attribute(value=ast.Name(id=name), attr="shape"):
                match self.value(right)[0]:
                    case Items(items=items, open=False):
                        self.resize(name, tuple(integer_of(item) for item in items))

    def refine(self, test: ast.expr, holds: bool) -> None:
        """Drop alternatives that a condition rules out."""
        match test:
            case ast.BoolOp(op=ast.And(), values=values) if holds:
                for value in values:
                    self.refine(value, True)
            case ast.BoolOp(op=ast.Or(), values=values) if not holds:
                for value in values:
                    self.refine(value, False)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.refine(operand, not holds)
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Constant(value=None)]):
                is_none = isinstance(op, ast.Is | ast.Eq) == holds
                self.keep(name, lambda value: (value == NONE) == is_none, (NONE,) if is_none else ())
            case ast.Name(id=name):
                self.keep(name, lambda value: truth(value) is not (not holds), ())
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]) if holds:
                self.dimensions(left, right)

    def keep(self, name: str, holds: Callable[[Abstract], bool], fallback: Alternatives) -> None:
        values = self.names.get(name)
        if values:
            self.names[name] = tuple(value for value in values if holds(value)) or fallback or UNKNOWN


def joined(first: dict[str, Alternatives], second: dict[str, Alternatives]) -> dict[str, Alternatives]:
    if first is second:
        return first
    joined = dict(first)
    for name, values in second.items():
        if name not in joined:
            joined[name] = values
        elif joined[name] != values:
            joined[name] = merged(joined[name], values)
    return joined
