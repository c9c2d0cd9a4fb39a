"""Which names a statement of a kernel depends on, from its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, eq=False, slots=True)
class KernelDefinition:
    """The kernel's definition; ``sources``: the names that each local name is computed from; ``conditions``: those that
    decide which branch is taken."""

    function: ast.FunctionDef
    sources: Mapping[str, list[str]]
    conditions: tuple[str, ...]

    def reaching(self, names: list[str], parameters: set[str]) -> list[str]:
        """The parameters on which names depend through assignments, in any order of these; the nearest first."""
        reached = dict.fromkeys(names)
        waiting = list(reached)
        while waiting:
            for name in self.sources.get(waiting.pop(0), ()):
                if name not in reached:
                    reached[name] = None
                    waiting.append(name)
        return [name for name in reached if name in parameters]


@lru_cache(maxsize=32)
def kernel_definition(source: str, name: str) -> KernelDefinition | None:
    """The kernel in the text of a file, which is asked for again with each refusal of a draft."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name]
    return KernelDefinition(functions[-1], _sources(functions[-1]), _conditions(functions[-1])) if functions else None


def _conditions(function: ast.FunctionDef) -> tuple[str, ...]:
    tests = [node.test for node in ast.walk(function) if isinstance(node, ast.If | ast.IfExp)]
    return tuple(dict.fromkeys(name.id for test in tests for name in ast.walk(test) if isinstance(name, ast.Name)))


def _sources(function: ast.FunctionDef) -> dict[str, list[str]]:
    sources: dict[str, list[str]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                pairs = [(target, value) for target in targets]
            case ast.AugAssign(target=target, value=value) | ast.For(target=target, iter=value):
                pairs = [(target, value)]
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                pairs = [(target, value)]
            case _:
                continue
        for target, value in pairs:
            read = list(dict.fromkeys(name.id for name in ast.walk(value) if isinstance(name, ast.Name)))
            for written in ast.walk(target):
                if isinstance(written, ast.Name):
                    sources.setdefault(written.id, []).extend(read)
    return sources


def statement_names(function: ast.FunctionDef, line: int) -> list[str]:
    """The names in the innermost statement at a line, then those of the conditions under which it is reached. Of a
    compound one at its head also those of its body: what a variable is after a branch or a loop is refused there."""
    parts: list[ast.AST] = []
    for node in ast.walk(function):
        if isinstance(node, ast.stmt) and node is not function and node.lineno <= line <= (node.end_lineno or line):
            # Outer statements come first; of these only the condition counts.
            parts = [node, *(part.test if isinstance(part, ast.If | ast.While) else part for part in parts)]
            parts = [part for part in parts if part is node or isinstance(part, ast.expr)]
    return list(dict.fromkeys(name.id for part in parts for name in ast.walk(part) if isinstance(name, ast.Name)))


def is_bound(source: str, name: str) -> bool:
    """Whether a file's own statements bind a name, so that a function in it finds it."""
    try:
        waiting: list[ast.AST] = [ast.parse(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    while waiting:
        match waiting.pop():
            case ast.FunctionDef(name=bound) | ast.ClassDef(name=bound) | ast.Name(id=bound, ctx=ast.Store()):
                if bound == name:
                    return True
            case ast.alias(name=imported, asname=bound):
                if imported == "*" or name == (bound or imported.partition(".")[0]):
                    return True
            case node:
                waiting += ast.iter_child_nodes(node)
    return False
