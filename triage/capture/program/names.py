"""Which names a piece of source reads from outside of itself, and where they stand."""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, List, NamedTuple, Set, Tuple


class Read(NamedTuple):
    """A name, or a chain of attributes on one, that is read: ``("lib", "helper")``. ``nodes`` are its nodes, the name's
    first; ``annotation``: nothing but an annotation reads it there."""

    parts: Tuple[str, ...]
    nodes: Tuple[ast.AST, ...]
    annotation: bool


def reads(tree: ast.AST) -> List[Read]:
    """Every chain that is read and does not begin with a name of the source's own, in the order of the text."""
    own = bound(tree)
    annotations = {id(node) for one in _annotations(tree) for node in ast.walk(one)}
    found: List[Read] = []
    inner: Set[int] = set()
    for node in ast.walk(tree):
        if id(node) in inner or not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        chain: List[Any] = [node]
        while isinstance(chain[-1], ast.Attribute):
            chain.append(chain[-1].value)
        inner.update(id(one) for one in chain[1:])
        root = chain[-1]
        if isinstance(root, ast.Name) and isinstance(root.ctx, ast.Load) and not _hidden(root, own):
            parts = [root.id] + [one.attr for one in reversed(chain[:-1])]
            found.append(Read(tuple(parts), tuple(reversed(chain)), id(root) in annotations))
    return sorted(found, key=lambda read: _place(read.nodes[0]))


def bound(tree: ast.AST) -> Dict[str, Tuple[int, int]]:
    """Names that the source binds itself, each with the place from which it does."""
    found: Dict[str, Tuple[int, int]] = {}

    def bind(name: str, place: Tuple[int, int]) -> None:
        found[name] = min(place, found.get(name, place))

    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            bind(node.arg, (0, 0))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bind(node.id, _place(node))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node is not tree:
            bind(node.name, (0, 0))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                bind((alias.asname or alias.name).partition(".")[0], (0, 0))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bind(node.name, (0, 0))
        elif isinstance(node, ast.comprehension):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    bind(name.id, (0, 0))
    return found


def _hidden(name: ast.Name, own: Dict[str, Tuple[int, int]]) -> bool:
    """Whether a name of the source's own stands before this one: until then Triton reads the global."""
    return name.id in own and own[name.id] <= _place(name)


def _annotations(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns


def _place(node: Any) -> Tuple[int, int]:
    return (node.lineno, node.col_offset)


class Text:
    """Source that is edited by the places of its nodes."""

    def __init__(self, source: str) -> None:
        # Columns of nodes are counted in bytes of UTF-8.
        self.bytes = source.encode("utf-8")
        self._starts = [0]
        for line in self.bytes.splitlines(True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: List[Tuple[int, int, bytes]] = []

    def span(self, node: Any) -> Tuple[int, int]:
        """The bytes of a node."""
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def replace(self, start: int, end: int, text: str) -> None:
        """Other text in the place of these bytes of the original."""
        self._edits.append((start, end, text.encode("utf-8")))

    def result(self) -> str:
        """The text with all edits."""
        made = self.bytes
        for start, end, text in sorted(set(self._edits), reverse=True):
            made = made[:start] + text + made[end:]
        return made.decode("utf-8")

    def without_parameter(self, function: ast.FunctionDef, name: str) -> None:
        """Take a parameter, with its annotation and default, out of the function's head."""
        place, start, end = self._parameter(function, name)
        rest = self.bytes[end:].lstrip()
        if rest.startswith(b","):
            end += len(self.bytes[end:]) - len(rest) + 1
            while self.bytes[end : end + 1] in (b" ", b"\t"):
                end += 1
        elif place:
            start = self.bytes.rindex(b",", 0, start)
        self.replace(start, end, "")

    def split_parameter(self, function: ast.FunctionDef, name: str, names: List[str], statement: str) -> None:
        """Put other parameters in the place of one, and a statement in front of the function's first."""
        _, start, end = self._parameter(function, name)
        # What follows a parameter with a default has to have one.
        default = "=None" if any(self.span(one)[0] < end for one in _defaults(function)) else ""
        self.replace(start, end, ", ".join(one + default for one in names))
        documented = len(function.body) > 1 and ast.get_docstring(function, clean=False) is not None
        first = function.body[1 if documented else 0]
        alone = not self.bytes[self._starts[first.lineno - 1] :][: first.col_offset].strip()
        after = "\n" + " " * first.col_offset if alone else "; "
        self.replace(self.span(first)[0], self.span(first)[0], statement + after)

    def _parameter(self, function: ast.FunctionDef, name: str) -> Tuple[int, int, int]:
        """Which it is, and its bytes with those of its annotation and default."""
        arguments = function.args
        listed: List[ast.arg] = [*getattr(arguments, "posonlyargs", []), *arguments.args, *arguments.kwonlyargs]
        place = [one.arg for one in listed].index(name)
        start, end = self.span(listed[place])
        for default in _defaults(function):
            if self.span(default)[0] > start:
                following = [one for one in listed if self.span(one)[0] > start]
                if not following or self.span(default)[1] < self.span(following[0])[0]:
                    end = max(end, self.span(default)[1])
        return place, start, end


def _defaults(function: ast.FunctionDef) -> List[ast.expr]:
    return [one for one in [*function.args.defaults, *function.args.kw_defaults] if one is not None]
