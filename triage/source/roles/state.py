"""State of the abstract execution of a kernel."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping

from triage.source.roles.symbols import Symbolic, one_name
from triage.source.roles.syntax import is_module
from triage.source.roles.uses import ParameterUses

MOST_STEPS = 60_000
"""Expressions that are executed; far above any kernel, below what a recursion of helpers can reach."""


class KernelState(ABC):
    """Functions of the file, uses recorded until now, and where the execution is."""

    def __init__(self, functions: Mapping[str, ast.FunctionDef], uses: ParameterUses) -> None:
        self.functions, self.uses = functions, uses
        self._steps = self._depth = self._serial = 0
        self._line = 0
        self._path: frozenset[tuple[int, bool]] = frozenset()
        self._returned: list[Symbolic] = []

    @abstractmethod
    def _value(self, node: ast.expr, env: dict[str, Symbolic]) -> Symbolic:
        """Execute an expression."""

    def _parameter(self, node: ast.AST | None, env: Mapping[str, Symbolic]) -> str | None:
        """The parameter that a plain name stands for."""
        return one_name(env[node.id].terms) if isinstance(node, ast.Name) and node.id in env else None

    def _arguments(self, node: ast.Call, env: dict[str, Symbolic]) -> list[Symbolic]:
        """The positional arguments, that of a method first; keywords are executed and added behind."""
        values = [self._value(value, env) for value in node.args if not isinstance(value, ast.Starred)]
        if isinstance(node.func, ast.Attribute) and not is_module(node.func.value, env):
            values.insert(0, self._value(node.func.value, env))
        return values + [self._value(word.value, env) for word in node.keywords]
