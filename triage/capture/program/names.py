"""Free names of a piece of source and their positions, and edits at those positions."""

import ast
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Set, Tuple


class NameRead(NamedTuple):
    """A name, or a chain of attributes on one, that is read: ``("lib", "helper")``.

    ``nodes`` are its nodes, the name's first; ``annotation``: it is read only in an annotation."""

    parts: Tuple[str, ...]
    nodes: Tuple[ast.AST, ...]
    annotation: bool


def reads(tree: ast.AST) -> List[NameRead]:
    """Every chain that is read and does not start with a name bound by the source itself, in source order."""
    if not isinstance(tree, ast.ClassDef):
        return _reads(tree)
    # Each method has names of its own; those of the class are seen by its other statements, not by their bodies.
    own = {name for statement in tree.body for name in _named(statement)}
    own.add(tree.name)
    head = [part for part in ast.iter_child_nodes(tree) if part not in tree.body]
    of_class = [
        read
        for statement in tree.body
        for read in _reads(statement)
        if read.parts[0] not in own or _is_in_body(read.nodes[0], statement)
    ]
    return [*(read for part in head for read in _reads(part)), *of_class]


def _named(statement: ast.stmt) -> List[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    return list(bound(statement))


def _is_in_body(node: Any, statement: ast.stmt) -> bool:
    """Whether it is in the body of a function, which does not see the names of the class around it."""
    return isinstance(statement, ast.FunctionDef) and node.lineno >= statement.body[0].lineno


def _reads(tree: ast.AST) -> List[NameRead]:
    own = bound(tree)
    annotations = {id(node) for node_ in _annotations(tree) for node in ast.walk(node_)}
    names: List[NameRead] = []
    inner: Set[int] = set()
    for node in ast.walk(tree):
        if id(node) in inner or not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        chain: List[Any] = [node]
        while isinstance(chain[-1], ast.Attribute):
            chain.append(chain[-1].value)
        inner.update(id(node_) for node_ in chain[1:])
        root = chain[-1]
        if not isinstance(root, ast.Name) or not isinstance(root.ctx, ast.Load):
            continue
        # Before the source binds a name of its own, Triton reads the global.
        if root.id not in own or own[root.id] > _position(root):
            parts = [root.id] + [node_.attr for node_ in reversed(chain[:-1])]
            names.append(NameRead(tuple(parts), tuple(reversed(chain)), id(root) in annotations))
    return sorted(names, key=lambda read: _position(read.nodes[0]))


def bound(tree: ast.AST) -> Dict[str, Tuple[int, int]]:
    """Names that the source binds, each with the position of its first binding."""
    positions: Dict[str, Tuple[int, int]] = {}

    def bind(name: str, position: Tuple[int, int]) -> None:
        positions[name] = min(position, positions.get(name, position))

    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            bind(node.arg, (0, 0))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bind(node.id, _position(node))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler)) and node is not tree and node.name:
            bind(node.name, (0, 0))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                bind((alias.asname or alias.name).partition(".")[0], (0, 0))
        elif isinstance(node, ast.comprehension):
            for name in ast.walk(node.target):
                if isinstance(name, ast.Name):
                    bind(name.id, (0, 0))
    return positions


def _annotations(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns


def _position(node: Any) -> Tuple[int, int]:
    return (node.lineno, node.col_offset)


class Text:
    """Source text edited at the positions of its nodes."""

    def __init__(self, source: str) -> None:
        # Columns of nodes are counted in bytes of UTF-8.
        self.bytes = source.encode("utf-8")
        self._starts = [0]
        for line in self.bytes.splitlines(True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: List[Tuple[int, int, bytes]] = []

    def span(self, node: Any) -> Tuple[int, int]:
        """Start and end of a node in bytes."""
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace these bytes of the original."""
        self._edits.append((start, end, text.encode("utf-8")))

    def result(self) -> str:
        """The text with all edits applied."""
        edited = self.bytes
        for start, end, text in sorted(set(self._edits), reverse=True):
            edited = edited[:start] + text + edited[end:]
        return edited.decode("utf-8")

    def without_parameter(self, function: ast.FunctionDef, name: str) -> None:
        """Remove a parameter, with its annotation and default."""
        index, start, end = self._parameter(function, name)
        rest = self.bytes[end:].lstrip()
        if rest.startswith(b","):
            end += len(self.bytes[end:]) - len(rest) + 1
            while self.bytes[end : end + 1] in (b" ", b"\t"):
                end += 1
        elif index:
            start = self.bytes.rindex(b",", 0, start)
        self.replace(start, end, "")

    def split_parameter(self, function: ast.FunctionDef, name: str, names: List[str], statement: str) -> None:
        """Replace one parameter by several, and insert a statement before the function's first."""
        _, start, end = self._parameter(function, name)
        # A parameter after one with a default needs one.
        default = "=None" if any(self.span(part)[0] < end for part in _defaults(function)) else ""
        self.replace(start, end, ", ".join(part + default for part in names))
        documented = len(function.body) > 1 and ast.get_docstring(function, clean=False) is not None
        first = function.body[1 if documented else 0]
        alone = not self.bytes[self._starts[first.lineno - 1] :][: first.col_offset].strip()
        after = "\n" + " " * first.col_offset if alone else "; "
        self.replace(self.span(first)[0], self.span(first)[0], statement + after)

    def set_defaults(self, function: ast.FunctionDef, named: Mapping[str, str]) -> None:
        """Give parameters these expressions as defaults, and those behind them ``None`` where they have none."""
        is_behind = False
        listed = [*getattr(function.args, "posonlyargs", []), *function.args.args]
        for parameter in [*listed, *function.args.kwonlyargs]:
            _, start, end = self._parameter(function, parameter.arg)
            head = self.bytes[start : self.span(parameter)[1]].decode("utf-8")
            if parameter.arg in named:
                self.replace(start, end, "%s = %s" % (head, named[parameter.arg]))
                is_behind = parameter in listed
            elif is_behind and parameter in listed and end == self.span(parameter)[1]:
                self.replace(start, end, "%s = None" % head)

    def _parameter(self, function: ast.FunctionDef, name: str) -> Tuple[int, int, int]:
        """Index of a parameter, and its span with annotation and default."""
        arguments = function.args
        listed: List[ast.arg] = [*getattr(arguments, "posonlyargs", []), *arguments.args, *arguments.kwonlyargs]
        index = [parameter.arg for parameter in listed].index(name)
        start, end = self.span(listed[index])
        for default in _defaults(function):
            if self.span(default)[0] > start:
                following = [parameter for parameter in listed if self.span(parameter)[0] > start]
                if not following or self.span(default)[1] < self.span(following[0])[0]:
                    end = max(end, self.span(default)[1])
        return index, start, end


def _defaults(function: ast.FunctionDef) -> List[ast.expr]:
    return [default for default in [*function.args.defaults, *function.args.kw_defaults] if default is not None]
