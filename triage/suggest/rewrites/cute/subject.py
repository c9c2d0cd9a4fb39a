"""A failing CuTe file as its recipes see it, and blocks of its statements as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from triage.model.releases import in_range
from triage.source.module import Edit, Module
from triage.suggest.cute.flow import SourceFlow
from triage.suggest.cute.scene import CuteScene
from triage.suggest.rewrites.recipe import Rewritten

_INDENT = "    "
_FRAGMENTS_RENAMED = ">=4.3"
"""From then on ``make_rmem_tensor``, and ``make_fragment`` before."""


@dataclass(frozen=True)
class CuteSubject:
    """``module``: the file of the case. ``release``: of the DSL."""

    module: Module
    scene: CuteScene
    release: str

    @property
    def flow(self) -> SourceFlow:
        """The data flow of the file."""
        return self.scene.flow

    @property
    def text(self) -> str:
        """What the failure says."""
        return self.scene.text

    @property
    def parents(self) -> dict[int, ast.AST]:
        """The parent of each node of the module."""
        return self.flow.parents

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """All functions of the module."""
        return [node for node in ast.walk(self.module.tree) if isinstance(node, ast.FunctionDef)]

    @property
    def failing(self) -> list[ast.stmt]:
        """The innermost statements of the failing lines; every statement of the file where no line is known."""
        if not self.scene.lines:
            statements = [node for node in ast.walk(self.module.tree) if isinstance(node, ast.stmt)]
            return [node for node in statements if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
        chosen = [self.flow.statement(line) for line in self.scene.lines]
        return [node for node in chosen if node is not None and not isinstance(node, ast.ClassDef)]

    def function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function that a node is in."""
        return next((above for above in self.above(node) if isinstance(above, ast.FunctionDef)), None)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around one, innermost first."""
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements of the block that one is in."""
        parent = self.parents.get(id(statement))
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def lines(self, statements: Iterable[ast.stmt], deeper: int = 0) -> str:
        """The full lines of statements of one block, moved to the right by ``deeper`` levels; "" for none."""
        chosen = list(statements)
        if not chosen:
            return ""
        start, end = self.span(chosen)
        text = self.module.text[start:end]
        shift = _INDENT * abs(deeper)
        if deeper < 0:
            return "".join(line.removeprefix(shift) for line in text.splitlines(keepends=True))
        return "".join(shift + line if line.strip() else line for line in text.splitlines(keepends=True))

    def span(self, statements: list[ast.stmt]) -> tuple[int, int]:
        """From the beginning of the first statement's line to the end of the last one's, comments between included."""
        text = self.module.text
        start = text.rfind("\n", 0, self.module.span(statements[0])[0]) + 1
        end = text.find("\n", self.module.span(statements[-1])[1])
        return start, len(text) if end < 0 else end + 1

    def whole_lines(self, statements: list[ast.stmt]) -> bool:
        """Statements that fill their lines, without texts over several lines: they can be moved."""
        if any(isinstance(node, ast.Constant) and isinstance(node.value, str) and node.lineno != node.end_lineno
               for statement in statements for node in ast.walk(statement)):  # fmt: skip
            return False
        start, end = self.span(statements)
        first, last = self.module.span(statements[0])[0], self.module.span(statements[-1])[1]
        text = self.module.text
        return not text[start:first].strip() and text[last:end].strip()[:1] in ("", "#")

    @staticmethod
    def indent(statement: ast.stmt) -> str:
        """The blanks before a statement."""
        return " " * statement.col_offset

    def alias(self, module: str) -> str | None:
        """The name by which the file knows a module: ``cutlass``, ``cutlass.cute``."""
        for node in ast.walk(self.module.tree):
            match node:
                case ast.Import(names=names):
                    for name in names:
                        if name.name == module and (name.asname or "." not in module):
                            return name.asname or name.name
                        if name.name == module or (name.name.startswith(f"{module}.") and not name.asname):
                            return module
                case ast.ImportFrom(module=parent, names=names):
                    for name in names:
                        if f"{parent}.{name.name}" == module:
                            return name.asname or name.name
        return None

    def fragment(self, layout: str, dtype: str) -> str | None:
        """A register tensor."""
        cute = self.alias("cutlass.cute")
        function = "make_rmem_tensor" if in_range(self.release, _FRAGMENTS_RENAMED) else "make_fragment"
        return cute and f"{cute}.{function}({layout}, {dtype})"

    def rewritten(
        self,
        edits: Iterable[Edit],
        change: str,
        why: str,
        *,
        results: str = "",
        caller: str = "",
        changes: Mapping[str, Any] | None = None,
    ) -> Iterator[Rewritten]:
        """The file with these edits; nothing where there are none, or where they do not make valid Python."""
        edits = tuple(edits)
        text = self.module.edited(edits)
        if edits and text is not None and text != self.module.text:
            yield Rewritten(text, change, why, caller, results, changes or {})


def identifier(module: Module, wanted: str) -> str:
    """A name that the file does not have."""
    name, number = wanted, 1
    while re.search(rf"\b{name}\b", module.text):
        number += 1
        name = f"{wanted}{number}"
    return name
