"""What is kept of a file, and its text: all other lines are blank."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from triage.source.slicing.files import Compound, ParsedFile, Unit, first_line
from triage.source.slicing.modules import OwnModule
from triage.source.slicing.reads import Chain

NAMESPACE = b"__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
"""A folder without ``__init__.py`` as a package: parts of it may lie in other folders of the import path."""


@dataclass(eq=False, slots=True)
class SlicedFile:
    """What is kept of a module. ``source``: None where it has no text, or none that can be parsed: it stays whole.
    ``aliases``: of an import, the names that are; for ``import *`` those that it is to bind. ``assumed``: values of
    conditions. ``appended``: imports at the end of the file in the place of effects that are gone."""

    module: OwnModule
    source: ParsedFile | None
    units: set[Unit] = field(default_factory=set)
    compounds: set[Compound] = field(default_factory=set)
    aliases: dict[Unit, set[str]] = field(default_factory=dict)
    assumed: dict[Compound, bool | None] = field(default_factory=dict)
    appended: set[str] = field(default_factory=set)
    reached: set[Chain] = field(default_factory=set)

    def text(self) -> str:
        """The text of the file in the slice."""
        if self.source is None:
            return ""
        lines = [""] * len(self.source.lines)
        _Writer(self, self.source, lines).items(self.source.items)
        last = [] if lines[-1] else [lines.pop()]
        return "\n".join([*lines, *sorted(self.appended), *last])


@dataclass(slots=True)
class _Writer:
    sliced: SlicedFile
    source: ParsedFile
    lines: list[str]

    def items(self, items: list[Unit | Compound]) -> bool:
        """Write statements of a block; whether there were any."""
        written = [self._unit(item) if isinstance(item, Unit) else self._compound(item) for item in items]
        return any(written)

    def _unit(self, unit: Unit) -> bool:
        if unit not in self.sliced.units:
            return False
        self._copy(unit.first, unit.last)
        if unit.within and unit.within[-1].compound.opened:
            self._without_class(unit.nodes[0])
        node, names = unit.imports, self.sliced.aliases.get(unit)
        if node is not None and names is not None:
            for line in range(unit.first, unit.last + 1):
                self.lines[line - 1] = ""
            self.lines[unit.first - 1] = self._indent(node) + _import(node, names)
        return True

    def _without_class(self, node: ast.stmt) -> None:
        """Blank the decorators that make a function of a class what it is there."""
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else []:
            if isinstance(decorator, ast.Name) and decorator.id == "staticmethod":
                self.lines[decorator.lineno - 1] = ""

    def _compound(self, compound: Compound) -> bool:
        if compound not in self.sliced.compounds:
            return False
        for block in compound.blocks:
            written = self.items(block.items)
            if block.is_elif:
                continue
            if not written and block.name == "orelse":
                continue
            self._copy(block.first, block.last)
            if not written:
                node = block.items[0].nodes[0] if isinstance(block.items[0], Unit) else block.items[0].node
                self.lines[first_line(node) - 1] = self._indent(node) + "pass"
        self._replace_header(compound)
        return True

    def _replace_header(self, compound: Compound) -> None:
        block, node = compound.blocks[0], compound.node
        value = True if compound.opened else self.sliced.assumed.get(compound)
        if value is None:
            return
        for line in range(block.first, block.last + 1):
            self.lines[line - 1] = ""
        keyword = "elif" if self._starts(node, "elif") else "if"
        self.lines[block.first - 1] = f"{self._indent(node)}{keyword} {value}:"

    def _starts(self, node: ast.stmt, keyword: str) -> bool:
        return self.source.lines[node.lineno - 1].lstrip().startswith(keyword)

    def _indent(self, node: ast.stmt) -> str:
        line = self.source.lines[first_line(node) - 1]
        return line[: len(line) - len(line.lstrip())]

    def _copy(self, first: int, last: int) -> None:
        self.lines[first - 1 : last] = self.source.lines[first - 1 : last]


def _import(node: ast.Import | ast.ImportFrom, names: set[str]) -> str:
    """An import of some of its names."""
    aliases = [ast.unparse(alias) for alias in node.names if alias.name in names]
    if node.names[0].name == "*" and "*" not in names:
        aliases = sorted(names)
    listed = ", ".join(aliases)
    return (
        f"import {listed}"
        if isinstance(node, ast.Import)
        else f"from {'.' * node.level}{node.module or ''} import {listed}"
    )
