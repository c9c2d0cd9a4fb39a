"""A source file as the statements that run when it is imported: which are reached is decided for each of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from triage.filesystem.files import ANYWHERE, MOST_SOURCE, read_file
from triage.model.case import python_text
from triage.model.compilers import CUTE
from triage.source.functions import is_jitted
from triage.source.names import scope
from triage.source.slicing.reads import Chain, dotted, reads

_CACHED = 64
"""Parsed files; a syntax tree takes about 100 times its text, and one package is sliced file by file."""
_BLOCKS = ("body", "handlers", "orelse", "finalbody")
_COMPOUND = (ast.If, ast.Try, ast.For, ast.While, ast.With) + ((ast.TryStar,) if hasattr(ast, "TryStar") else ())
_INNER_IMPORT = re.compile(r"^[ \t]+(?:from|import)[ \t]", re.MULTILINE)
_CHANGES = frozenset({"add", "append", "clear", "extend", "insert", "pop", "remove", "setdefault", "sort", "update"})
"""Methods of Python's containers that change them."""


@dataclass(eq=False)
class Unit:
    """Statements that stay or go together: one, or several that share a line. ``within``: the blocks around it, the
    outermost first. ``annotations``: whether those of parameters are evaluated when it is executed."""

    nodes: tuple[ast.stmt, ...]
    within: tuple[CompoundBlock, ...]
    annotations: bool

    @cached_property
    def reads(self) -> frozenset[Chain]:
        """Names of the module that it reads, when it is executed or later."""
        return frozenset().union(*(reads(node, annotations=self.annotations) for node in self.nodes))

    @cached_property
    def effects(self) -> frozenset[Chain]:
        """Objects that it changes."""
        return frozenset(chain for node in self.nodes if (chain := _changed(node)))

    @cached_property
    def inner_imports(self) -> list[tuple[ast.Import | ast.ImportFrom, ast.alias, Chain]]:
        """Imports inside its functions, and what is read of each."""
        nodes = [child for node in self.nodes for child in ast.walk(node)]
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        chains: set[Chain] = set()
        parts: set[ast.AST] = set()
        for node in nodes if imports else []:
            if isinstance(node, ast.Attribute):
                parts.add(node.value)
            if node not in parts and (chain := dotted(node)) is not None:
                chains.add(chain)
        return [
            (node, alias, chain)
            for node in imports
            for alias in node.names
            for name in [(alias.asname or alias.name).partition(".")[0]]
            for chain in [chain for chain in chains if chain[0] == name] or [(name,)]
        ]

    @property
    def first(self) -> int:
        """Its first line, from 1."""
        return first_line(self.nodes[0])

    @property
    def last(self) -> int:
        """Its last line."""
        return last_line(self.nodes[-1])

    @property
    def imports(self) -> ast.Import | ast.ImportFrom | None:
        """The import statement that it is."""
        node = self.nodes[0]
        return node if len(self.nodes) == 1 and isinstance(node, ast.Import | ast.ImportFrom) else None


@dataclass(eq=False)
class Compound:
    """A statement with blocks of others. ``opened``: the function or class is not executed as such, but its body as a
    part of the module."""

    node: ast.stmt
    within: tuple[CompoundBlock, ...]
    opened: bool
    blocks: list[CompoundBlock] = field(default_factory=list)

    @cached_property
    def reads(self) -> frozenset[Chain]:
        """Names of the module that its header reads."""
        header = [] if self.opened else [part for part in _header(self.node) if part is not None]
        return frozenset().union(*(reads(part, annotations=True) for part in header))


@dataclass(eq=False, slots=True)
class CompoundBlock:
    """A block of a compound statement: its name in the syntax tree, lines of its header, its statements."""

    compound: Compound
    name: str
    first: int
    last: int
    items: list[Unit | Compound] = field(default_factory=list)

    @property
    def is_elif(self) -> bool:
        """Whether it is nothing but the next condition, which has no header above it."""
        return self.name == "orelse" and self.last < self.first


@dataclass(frozen=True, slots=True)
class NameBinding:
    """What binds a name: a statement, the header of a compound one, or an alias of an import. ``parameter``: of a
    function that was opened."""

    owner: Unit | Compound
    alias: ast.alias | None = None
    parameter: bool = False


@dataclass(eq=False)
class ParsedFile:
    """A parsed file. ``opened``: functions and classes whose bodies count as parts of the module."""

    path: Path
    text: str
    tree: ast.Module
    opened: frozenset[ast.stmt] = frozenset()

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, without their ends; only line feeds end one, as for the parser."""
        return self.text.split("\n")

    @cached_property
    def items(self) -> list[Unit | Compound]:
        """The statements of the module."""
        return list(self._items(self.tree.body, ()))

    @cached_property
    def units(self) -> list[Unit]:
        """Innermost units, in the order of the text."""
        return [item for item in _walk(self.items) if isinstance(item, Unit)]

    @cached_property
    def bindings(self) -> dict[str, list[NameBinding]]:
        """What binds each name of the module, in the order of the text."""
        names: dict[str, list[NameBinding]] = {}
        for item in _walk(self.items):
            for name, binding in self._bindings(item):
                names.setdefault(name, []).append(binding)
        return names

    @cached_property
    def effects(self) -> dict[str, list[Unit]]:
        """Statements that change an object, by the first component of its name."""
        names: dict[str, list[Unit]] = {}
        for unit in self.units:
            for chain in unit.effects:
                names.setdefault(chain[0], []).append(unit)
        return names

    @cached_property
    def stars(self) -> list[Unit]:
        """Imports of all names of a module."""
        return [unit for unit in self.units if (node := unit.imports) and node.names[0].name == "*"]

    @cached_property
    def inner_imports(self) -> list[int]:
        """Lines that look like imports in a block or a function."""
        return [self.text.count("\n", 0, match.start()) + 1 for match in _INNER_IMPORT.finditer(self.text)]

    @cached_property
    def exported(self) -> frozenset[str] | None:
        """What ``__all__`` lists literally; None where there is none."""
        values = [
            constant.value
            for binding in self.bindings.get("__all__", [])
            if isinstance(binding.owner, Unit)
            for node in ast.walk(binding.owner.nodes[0])
            if isinstance(constant := node, ast.Constant) and isinstance(constant.value, str)
        ]
        return frozenset(values) if "__all__" in self.bindings else None

    @cached_property
    def evaluates_annotations(self) -> bool:
        """Whether annotations of parameters are evaluated: when a function is defined, or by CuTe DSL, which also
        evaluates those that are kept as text."""
        modules = {node.module or "" for node in self.tree.body if isinstance(node, ast.ImportFrom)}
        modules |= {alias.name for node in self.tree.body if isinstance(node, ast.Import) for alias in node.names}
        return any(module.partition(".")[0] == CUTE.module for module in modules) or not any(
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(alias.name == "annotations" for alias in node.names)
            for node in self.tree.body
        )

    def nested(self, name: str) -> list[tuple[ast.FunctionDef, tuple[ast.stmt, ...]]]:
        """Jitted functions of that name below the module's own statements, each with what is around it."""
        return [
            (node, around)
            for node, around in _functions(self.tree.body, ())
            if node.name == name and around and is_jitted(node)
        ]

    def _items(self, body: list[ast.stmt], within: tuple[CompoundBlock, ...]) -> Iterator[Unit | Compound]:
        for group in self._groups(body):
            node = group[0]
            if len(group) == 1 and (isinstance(node, _COMPOUND) or node in self.opened) and self._is_spread(node):
                yield self._compound(node, within)
            else:
                yield Unit(tuple(group), within, self.evaluates_annotations)

    def _groups(self, body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
        group: list[ast.stmt] = []
        for node in body:
            if group and not self._begins_line(node):
                group.append(node)
                continue
            if group:
                yield group
            group = [node]
        if group:
            yield group

    def _begins_line(self, node: ast.stmt) -> bool:
        line = self.lines[first_line(node) - 1]
        # Columns count bytes; what is before a statement on its line is white space, or another statement.
        return not line.encode()[: node.col_offset].strip() or line.lstrip().startswith("@")

    def _is_spread(self, node: ast.stmt) -> bool:
        """Whether each block of a compound statement begins on a line of its own."""
        return all(self._begins_line(body[0]) for _, body, _ in _blocks(node) if body)

    def _compound(self, node: ast.stmt, within: tuple[CompoundBlock, ...]) -> Compound:
        compound = Compound(node, within, node in self.opened)
        above = first_line(node) - 1
        for name, body, _ in _blocks(node):
            block = CompoundBlock(compound, name, above + 1, first_line(body[0]) - 1)
            if name == "orelse" and isinstance(node, ast.If) and self._is_elif(body[0]):
                block.first, block.last = 1, 0
            block.items = list(self._items(body, (*within, block)))
            compound.blocks.append(block)
            above = last_line(body[-1])
        return compound

    def _is_elif(self, node: ast.stmt) -> bool:
        text = self.lines[node.lineno - 1].encode()[node.col_offset :]
        return isinstance(node, ast.If) and text.startswith(b"elif")

    def _bindings(self, item: Unit | Compound) -> Iterator[tuple[str, NameBinding]]:
        if any(block.compound.opened is False and _never_runs(block) for block in item.within):
            return
        if isinstance(item, Compound):
            if item.opened:
                yield from ((name, NameBinding(item, parameter=True)) for name in _parameters(item.node))
            else:
                yield from ((name, NameBinding(item)) for name in _bound_by_header(item.node))
            return
        for node in item.nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for alias in node.names:
                    name = alias.asname or alias.name
                    yield (
                        (name if isinstance(node, ast.ImportFrom) else name.partition(".")[0]),
                        NameBinding(item, alias),
                    )
            elif not isinstance(node, ast.Delete):  # It assigns nothing, though it makes a name local.
                yield from ((name, NameBinding(item)) for name in scope([node]))


def parsed(path: Path) -> ParsedFile:
    """A file of the user's, from memory where it has not changed. Raises OSError; what ``ast.parse`` raises."""
    facts = path.stat()
    return _parsed(path, (facts.st_size, facts.st_mtime_ns, facts.st_ino))


@lru_cache(maxsize=_CACHED)
def _parsed(path: Path, facts: tuple[int, int, int]) -> ParsedFile:
    data = read_file(path, ANYWHERE, MOST_SOURCE)
    # Of bytes, as Python reads it: what cannot be decoded is refused.
    return ParsedFile(path, python_text(data), ast.parse(data))


def first_line(node: ast.stmt) -> int:
    """The line that a statement begins on, that of its first decorator included."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return node.lineno


def last_line(node: ast.stmt) -> int:
    """The line that a statement ends on."""
    assert node.end_lineno is not None
    return node.end_lineno


def _walk(items: list[Unit | Compound]) -> Iterator[Unit | Compound]:
    for item in items:
        yield item
        if isinstance(item, Compound):
            for block in item.blocks:
                yield from _walk(block.items)


def _blocks(node: ast.AST) -> Iterator[tuple[str, list[ast.stmt], ast.AST]]:
    """The blocks of a compound statement that are there, in the order of the text."""
    for name in _BLOCKS:
        for part in getattr(node, name, None) or []:
            if name != "handlers":
                yield name, getattr(node, name), node
                break
            yield "handler", part.body, part


def _header(node: ast.stmt) -> list[ast.AST | None]:
    """The expressions of a compound statement outside of its blocks."""
    match node:
        case ast.If(test=test) | ast.While(test=test):
            return [test]
        case ast.For():
            return [node.target, node.iter]
        case ast.With():
            return [*node.items]
    return [handler.type for handler in getattr(node, "handlers", [])]


def _bound_by_header(node: ast.stmt) -> set[str]:
    names = scope([part for part in _header(node) if part is not None])
    return names | {handler.name for handler in getattr(node, "handlers", []) if handler.name}


def _parameters(node: ast.stmt) -> set[str]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    return {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}


def _functions(
    body: list[ast.stmt], around: tuple[ast.stmt, ...]
) -> Iterator[tuple[ast.FunctionDef, tuple[ast.stmt, ...]]]:
    """Every function definition below statements, with the functions and classes around it."""
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield node, around
        inner = (*around, node) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else around
        for _, below, _ in _blocks(node):
            yield from _functions(below, inner)


def _changed(node: ast.stmt) -> Chain | None:
    """The object that a statement changes without binding a name, as a dotted name: ``a.b = …``, ``a[…] = …``,
    ``a.append(…)``."""
    match node:
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            pass
        case ast.Delete(targets=[target]):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method, value=target))) if method in _CHANGES:
            return dotted(target)
        case _:
            return None
    while isinstance(target, ast.Subscript):
        target = target.value
        if isinstance(target, ast.Name):
            return (target.id,)
    return dotted(target) if isinstance(target, ast.Attribute) else None


def _never_runs(block: CompoundBlock) -> bool:
    """Whether the block does not run when the module is imported: that of type checkers, or of a program."""
    if not isinstance(node := block.compound.node, ast.If) or block.name != "body":
        return False
    test = ast.unparse(node.test)
    return test in ("TYPE_CHECKING", "typing.TYPE_CHECKING") or test.replace('"', "'") == "__name__ == '__main__'"
