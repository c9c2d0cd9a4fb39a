"""What a recipe is given and what it gives back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from triage.source.module import Module
from triage.suggest.scene import Scene


@dataclass(frozen=True)
class Subject:
    """A failing kernel: its file, the function, the failure, and the modules of the user's own that it imports from
    (by the names that the file imports)."""

    module: Module
    kernel: ast.FunctionDef
    scene: Scene
    imported: Mapping[str, tuple[ast.FunctionDef, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def definitions(self, name: str) -> tuple[ast.FunctionDef, ...]:
        """Every definition of a helper that the kernel calls by name."""
        return (*self.module.functions(name), *self.imported.get(name, ()))

    def failing(self, node: ast.stmt | ast.expr) -> bool:
        """The failure points at this node's lines."""
        return any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in self.scene.evidence.lines)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A changed source. ``change`` says what was done; ``why`` why that helps, with the rule.

    ``caller`` is what the caller must do differently, "" when nothing; ``results`` is how results differ, "" when
    they do not. ``changes`` are what the case needs beside the new text (a descriptor's block); ``transposed`` names
    the arguments whose data is now stored the other way round.
    """

    text: str
    change: str
    why: str
    caller: str = ""
    results: str = ""
    changes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    transposed: tuple[str, ...] = ()


Recipe: TypeAlias = Callable[[Subject], Iterator[Rewritten]]
