"""The input and the output of a recipe: a failing kernel, and its rewritten source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

from triage.filesystem.files import MOST_SOURCE, read_file
from triage.model.case import Case, python_text
from triage.source.module import Edit, Module
from triage.suggest.scene import Scene


@dataclass(frozen=True)
class Subject:
    """A failing kernel: its file, the function, the failure, and the modules of the user's own that it imports from
    (by the names that the file imports)."""

    module: Module
    kernel: ast.FunctionDef
    scene: Scene
    imported: Mapping[str, tuple[ast.FunctionDef, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, scene: Scene, text: str) -> Subject | None:
        """The subject of a failure and the text of the kernel's file; None where that does not define the kernel."""
        module = Module.parse(text)
        kernels = module.functions(scene.case.name) if module else []
        if module is None or not kernels:
            return None
        return cls(module, kernels[0], scene, _imported(module, scene.case))

    def definitions(self, name: str) -> tuple[ast.FunctionDef, ...]:
        """Every definition of a helper that the kernel calls by name."""
        return (*self.module.functions(name), *self.imported.get(name, ()))

    def failing(self, node: ast.stmt | ast.expr) -> bool:
        """The failure points at this node's lines."""
        return any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in self.scene.evidence.lines)

    def rewritten(
        self, edits: Iterable[Edit], change: str, why: str, *, caller: str = "", results: str = ""
    ) -> Iterator[Rewritten]:
        """The file with these edits; nothing where there are none, or where they do not make valid Python."""
        edits = tuple(edits)
        text = self.module.edited(edits)
        if edits and text is not None:
            yield Rewritten(text, change, why, caller, results)


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


def _imported(module: Module, case: Case) -> dict[str, tuple[ast.FunctionDef, ...]]:
    """Functions that the file imports by name from files beside it. Read, never run; a file that cannot be read is
    left out."""
    functions: dict[str, tuple[ast.FunctionDef, ...]] = {}
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.ImportFrom) or not node.module or "." in node.module or node.level > 1:
            continue
        try:
            file = case.location.parent / f"{node.module}.py"
            other = Module.parse(python_text(read_file(file, case.top, MOST_SOURCE)))
        except OSError:
            continue
        for alias in node.names:
            if other is not None:
                functions[alias.asname or alias.name] = tuple(other.functions(alias.name))
    return functions


Recipe: TypeAlias = Callable[[Subject], Iterator[Rewritten]]
