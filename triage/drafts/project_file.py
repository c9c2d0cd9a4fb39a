"""A Python file of a project, parsed once: what it defines, imports and calls.

A file is parsed when a name in it is asked for, so that of a large package only the part that concerns a kernel is.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from triage.model.case import python_text
from triage.source.module import Module

Block = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module


@dataclass(eq=False)
class Scope:
    """A function, with the class and the function that it is defined in; or a file's own statements (a Module).

    ``calls``: those in it, not in functions that it defines.
    """

    file: ProjectFile
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
    outer: Scope | None = None
    owner: ast.ClassDef | None = None
    calls: list[ast.Call] = field(default_factory=list)

    @cached_property
    def statements(self) -> int:
        """How many statements it has, with those in others."""
        return sum(1 for node in ast.walk(self.node) if isinstance(node, ast.stmt))

    @cached_property
    def attributes(self) -> list[ast.Attribute]:
        """All attributes that it names, such as ``x.shape``."""
        return [node for node in ast.walk(self.node) if isinstance(node, ast.Attribute)]

    @cached_property
    def last_strides(self) -> dict[str, int]:
        """The last dimension of each tensor whose stride it asks for."""
        last: dict[str, int] = {}
        for call in self.calls:
            match call:
                case ast.Call(func=ast.Attribute(value=value, attr="stride"), args=[ast.Constant(value=int(index))]):
                    name = ast.unparse(value)
                    last[name] = max(last.get(name, 0), index)
        return last

    @cached_property
    def stored(self) -> set[str]:
        """The attributes that it assigns to, of whatever object."""
        return {node.attr for node in self.attributes if isinstance(node.ctx, ast.Store)}

    @property
    def name(self) -> str:
        return "" if isinstance(self.node, ast.Module) else self.node.name

    @property
    def top_level(self) -> bool:
        """Whether a name of the file stands for it."""
        return self.owner is None and self.outer is not None and isinstance(self.outer.node, ast.Module)


@dataclass(frozen=True, slots=True)
class External:
    """Something of another project, by its dotted name: ``torch.empty``."""

    name: str


Definition = Scope | ast.ClassDef | ast.expr
"""What a name is bound to: a function, a class, the value of an assignment."""


@dataclass(frozen=True, eq=False, slots=True)
class LocatedNode:
    """A definition, and the file that it is in."""

    file: ProjectFile
    node: Definition


@dataclass(eq=False)
class ProjectFile:
    """One file. What does not parse has no definitions."""

    path: Path
    data: bytes

    @cached_property
    def text(self) -> str:
        return python_text(self.data)

    @cached_property
    def tree(self) -> ast.Module:
        module = Module.parse(self.text)
        return module.tree if module else ast.Module([], [])

    @cached_property
    def problem(self) -> str | None:
        """The line, and why Python cannot parse it; None for a file that it can."""
        if self.tree.body:
            return None
        try:
            ast.parse(self.text)
        except SyntaxError as error:
            return f"{error.lineno}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            return f"1: {error}"
        return None

    @cached_property
    def _parts(self) -> _Parts:
        return _Parts(self)

    @cached_property
    def module(self) -> list[str]:
        """The parts of the path as those of a module."""
        parts = list(self.path.with_suffix("").parts)
        return parts[:-1] if parts[-1] == "__init__" else parts

    @property
    def scopes(self) -> list[Scope]:
        """The file's own statements, and each function in it."""
        return self._parts.scopes

    @property
    def definitions(self) -> dict[str, list[Definition]]:
        """Functions, classes and assignments of the file, also those below ``if`` and ``try``, in the file's order."""
        return self._parts.definitions

    @property
    def imports(self) -> dict[str, str]:
        """Local names to dotted names, those of imports in functions too. Relative ones begin with a dot."""
        return self._parts.imports

    @property
    def star_imports(self) -> list[str]:
        return self._parts.star_imports


class _Parts:
    """One walk over a file."""

    def __init__(self, file: ProjectFile) -> None:
        self.scopes: list[Scope] = []
        self.definitions: dict[str, list[Definition]] = {}
        self.imports: dict[str, str] = {}
        self.star_imports: list[str] = []
        top = Scope(file, file.tree)
        self.scopes.append(top)
        # A stack, as sources may nest deeper than Python recurses.
        waiting: list[tuple[ast.AST, Scope, ast.ClassDef | None]] = [(node, top, None) for node in file.tree.body[::-1]]
        while waiting:
            node, scope, owner = waiting.pop()
            inner, inner_owner = scope, owner
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    inner, inner_owner = Scope(file, node, scope, owner), None
                    self.scopes.append(inner)
                    if scope is top and owner is None:
                        self.definitions.setdefault(node.name, []).append(inner)
                case ast.ClassDef():
                    if scope is top and owner is None:
                        self.definitions.setdefault(node.name, []).append(node)
                    inner_owner = node
                case ast.Assign(targets=targets, value=value) if scope is top and owner is None:
                    for target in targets:
                        self._assigned(target, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if scope is top and not owner:
                    self.definitions.setdefault(name, []).append(value)
                case ast.Import(names=names):
                    for alias in names:
                        bound = alias.asname or alias.name.partition(".")[0]
                        self.imports.setdefault(bound, alias.name if alias.asname else bound)
                case ast.ImportFrom(module=module, names=names, level=level):
                    base = "." * level + (module or "")
                    for alias in names:
                        if alias.name == "*":
                            self.star_imports.append(base)
                        else:
                            dot = "" if base.endswith(".") else "."
                            self.imports.setdefault(alias.asname or alias.name, f"{base}{dot}{alias.name}")
                case ast.Call():
                    scope.calls.append(node)
            waiting += [(child, inner, inner_owner) for child in _children(node)[::-1]]

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), _:
                self.definitions.setdefault(name, []).append(value)
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                for name_, value_ in zip(names, values, strict=True):
                    self._assigned(name_, value_)


def _children(node: ast.AST) -> list[ast.AST]:
    """Children that may hold a call or a statement: three quarters of all nodes are names and constants."""
    children: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            children += [each for each in value if isinstance(each, ast.AST) and not isinstance(each, _LEAVES)]
        elif isinstance(value, ast.AST) and not isinstance(value, _LEAVES):
            children.append(value)
    return children


_LEAVES = (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop)
