"""Which parameters of a case a line of its file depends on, by data flow through the file's functions.

The host function passes its values on to kernels and helpers, and a class keeps them as attributes of ``self``. The
reading is by names, without regard to order: it only says what to try first.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from triage.source.module import Module, called

Variable: TypeAlias = tuple[str, str]
"""A function and a name in it; attributes of ``self`` are ``("", "self.NAME")`` in all functions."""
_MOST_HOPS = 12


@dataclass(frozen=True, slots=True)
class Reach:
    """How a parameter gets to a line: over how many assignments and calls, and whether it only decides whether the
    line runs."""

    hops: int
    guards: bool


@dataclass(frozen=True)
class SourceFlow:
    """One file. ``entry``: the host function, or the class whose ``__call__`` is it."""

    tree: ast.Module
    entry: str
    parents: dict[int, ast.AST] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, entry: str) -> SourceFlow:
        """Read a file; no facts where it is not Python."""
        module = Module.parse(text)
        tree = module.tree if module is not None else ast.Module([], [])
        parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        return cls(tree, entry, parents)

    @cached_property
    def functions(self) -> dict[str, ast.FunctionDef]:
        """All functions and methods by name; of several with one name the last, as at run time."""
        return {node.name: node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)}

    @cached_property
    def entries(self) -> frozenset[str]:
        """The functions whose parameters are the case's."""
        is_class = any(isinstance(node, ast.ClassDef) and node.name == self.entry for node in ast.walk(self.tree))
        return frozenset({"__init__", "__call__"} if is_class else {self.entry})

    def annotation(self, name: str) -> str:
        """How a parameter of the case is annotated, "" where it is not."""
        for function in (self.functions[entry] for entry in self.entries if entry in self.functions):
            for parameter in _parameters(function):
                if parameter.arg == name and parameter.annotation is not None:
                    return ast.unparse(parameter.annotation)
        return ""

    def function_of(self, node: ast.AST) -> str:
        """The function that a node is in; "" for the module."""
        while (parent := self.parents.get(id(node))) is not None:
            if isinstance(parent, ast.FunctionDef):
                return parent.name
            node = parent
        return ""

    @cached_property
    def _assigned(self) -> dict[Variable, list[ast.expr]]:
        """The expressions that give a variable its value."""
        sources: dict[Variable, list[ast.expr]] = {}
        for node in ast.walk(self.tree):
            for target, value in _bindings(node):
                for bound in ast.walk(target):
                    if isinstance(bound, ast.Name | ast.Attribute) and (variable := self.variable(bound)):
                        sources.setdefault(variable, []).append(value)
            if isinstance(node, ast.Call) and (function := self.functions.get(called(node))) is not None:
                for name, value in _passed(node, function):
                    sources.setdefault((function.name, name), []).append(value)
        return sources

    def sources(self, variable: Variable) -> list[ast.expr]:
        """The expressions that give a variable its value: those of the calls for a parameter, and the module's where a
        function does not set it."""
        return self._assigned.get(variable) or self._assigned.get(("", variable[1]), [])

    def variable(self, node: ast.expr) -> Variable | None:
        """The variable that a name or an attribute of ``self`` is."""
        match node:
            case ast.Name(id=name):
                return self.function_of(node), name
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return "", f"self.{name}"
        return None

    def _read(self, node: ast.AST) -> Iterator[Variable]:
        for part in ast.walk(node):
            if isinstance(part, ast.Name | ast.Attribute) and (variable := self.variable(part)):
                yield variable

    def conditions(self, node: ast.AST) -> Iterator[ast.expr]:
        """The conditions around a node, innermost first, in its function."""
        while (parent := self.parents.get(id(node))) is not None and not isinstance(parent, ast.FunctionDef):
            if isinstance(parent, ast.If | ast.IfExp | ast.While) and node is not parent.test:
                yield parent.test
            node = parent

    def reach(self, lines: tuple[int, ...]) -> dict[str, Reach]:
        """The parameters that the statements of these lines depend on."""
        starts = [statement for line in lines if (statement := self.statement(line)) is not None]
        reached: dict[str, Reach] = {}
        for guards in (False, True):
            waiting: list[tuple[Variable, int]] = []
            for start in starts:
                nodes: list[ast.AST] = list(self.conditions(start)) if guards else [*_head(start)]
                # A failure at the definition is one of anything in it, or of its launch.
                late = 1 if isinstance(start, ast.FunctionDef) else 0
                if late and not guards and isinstance(start, ast.FunctionDef):
                    nodes = [start, *self._launches(start.name)]
                waiting += [(variable, late) for node in nodes for variable in self._read(node)]
            for parameter, hops in self._reached(waiting).items():
                if parameter not in reached:
                    reached[parameter] = Reach(hops, guards)
        return reached

    def _launches(self, name: str) -> Iterator[ast.AST]:
        for node in ast.walk(self.tree):
            if called(node) != "launch" or not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Attribute) and called(node.func.value) == name:
                yield node

    def _reached(self, waiting: list[tuple[Variable, int]]) -> dict[str, int]:
        seen: set[Variable] = set()
        origins: dict[str, int] = {}
        while waiting:
            variable, hops = waiting.pop(0)
            if variable in seen or hops > _MOST_HOPS:
                continue
            seen.add(variable)
            function, name = variable
            if function in self.entries and name in {parameter.arg for parameter in self._parameters_of(function)}:
                origins.setdefault(name, hops)
            for source in self.sources(variable):
                waiting += [(read, hops + 1) for read in self._read(source)]
                waiting += [(read, hops + 2) for test in self.conditions(source) for read in self._read(test)]
        return origins

    def _parameters_of(self, function: str) -> list[ast.arg]:
        return _parameters(self.functions[function]) if function in self.functions else []

    def statement(self, line: int) -> ast.stmt | None:
        """The innermost statement of a line; a function for its decorators."""
        inside = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.stmt) and first_line(node) <= line <= (node.end_lineno or node.lineno)
        ]
        return max(inside, key=lambda node: (first_line(node), -(node.end_lineno or 0)), default=None)

    def origin(self, node: ast.expr) -> str | None:
        """The parameter of the case that an expression is, passed on under other names only."""
        origins = self.origins(node)
        return next(iter(origins)) if len(origins) == 1 else None

    def origins(self, node: ast.expr, hops: int = 6) -> set[str | None]:
        """The parameters that an expression may be, where a function is called with several; None among them for
        anything else."""
        variable = self.variable(node)
        if variable is None or hops == 0:
            return {None}
        function, name = variable
        if function in self.entries and name in {parameter.arg for parameter in self._parameters_of(function)}:
            return {name}
        return {origin for source in self.sources(variable) for origin in self.origins(source, hops - 1)} or {None}

    @cached_property
    def compared(self) -> dict[str, list[Any]]:
        """By parameter: the constants that it is compared with, and the keys of dictionaries of the module that it
        chooses from."""
        values: dict[str, list[Any]] = {}
        for node in ast.walk(self.tree):
            for name, constant in self._choices(node):
                if constant not in values.setdefault(name, []):
                    values[name].append(constant)
        return values

    def _choices(self, node: ast.AST) -> Iterator[tuple[str, Any]]:
        match node:
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                for name in filter(None, (name for side in sides for name in self.origins(side))):
                    for constant in (part for side in sides for part in ast.walk(side)):
                        if isinstance(constant, ast.Constant):
                            yield name, constant.value
            case ast.Subscript(value=ast.Name(id=table), slice=key):
                tables = [source for source in self.sources(("", table)) if isinstance(source, ast.Dict)]
                for name in filter(None, self.origins(key)) if tables else ():
                    yield from ((name, entry.value) for entry in tables[0].keys if isinstance(entry, ast.Constant))

    def passed_as(self, keyword: str) -> set[str]:
        """The parameters that are passed under a keyword, anywhere."""
        words = (node for node in ast.walk(self.tree) if isinstance(node, ast.keyword) and node.arg == keyword)
        return {name for word in words if (name := self.origin(word.value))}


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _passed(call: ast.Call, function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    names = [parameter.arg for parameter in _parameters(function)]
    positional = names[1:] if names[:1] == ["self"] else names
    yield from zip(positional, call.args, strict=False)
    yield from ((word.arg, word.value) for word in call.keywords if word.arg in names)


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.For(target=target, iter=value):
            yield target, value
        case ast.With(items=items):
            yield from ((item.optional_vars, item.context_expr) for item in items if item.optional_vars)


def first_line(node: ast.stmt) -> int:
    """The line of a statement, that of its first decorator for a function."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _head(statement: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that are its own, and no statements in it."""
    return [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt | ast.ExceptHandler)]
