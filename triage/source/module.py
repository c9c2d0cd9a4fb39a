"""A Python file as text and syntax tree together, and edits of the text that leave everything else unchanged."""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from triage.source.names import children

MAKES_DESCRIPTOR = ("make_tensor_descriptor", "_experimental_make_tensor_descriptor")
"""The name from 3.4 on, and the one in 3.3."""
OLD_LOAD = "_experimental_descriptor_load"
"""Loads through a descriptor up to 3.3; each load states the block."""
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List)

Node = ast.expr | ast.stmt | ast.keyword | ast.arg


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters from ``start`` to ``end`` of a file's text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Module:
    """One Python file. ``tree`` belongs to ``text``: offsets are of characters, from 0."""

    text: str
    tree: ast.Module

    @classmethod
    def parse(cls, text: str) -> Module | None:
        """None where the text is not valid Python."""
        tree = _parsed(text)
        return cls(text, tree) if tree is not None else None

    @cached_property
    def _lines(self) -> tuple[tuple[int, str], ...]:
        """Each line with the offset of its start. Only line feeds end a line, as for the parser."""
        lines, start = [], 0
        for line in self.text.split("\n"):
            lines.append((start, line))
            start += len(line) + 1
        return tuple(lines)

    def _offset(self, line: int, column: int) -> int:
        start, text = self._lines[line - 1]
        # The parser counts columns in bytes of UTF-8.
        return start + len(text.encode()[:column].decode(errors="ignore"))

    def span(self, node: Node) -> tuple[int, int]:
        """Start and end of a node's text, as offsets."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: Node) -> str:
        """A node's own text."""
        start, end = self.span(node)
        return self.text[start:end]

    def replace(self, node: Node, text: str) -> Edit:
        """Replace a node's text."""
        return Edit(*self.span(node), text)

    def before(self, node: Node, text: str) -> Edit:
        """Insert text directly before a node."""
        start = self.span(node)[0]
        return Edit(start, start, text)

    def after(self, node: Node, text: str) -> Edit:
        """Insert text directly after a node."""
        end = self.span(node)[1]
        return Edit(end, end, text)

    def swap(self, left: Node, right: Node) -> tuple[Edit, Edit]:
        """Exchange the texts of two nodes."""
        return self.replace(left, self.segment(right)), self.replace(right, self.segment(left))

    def operand(self, node: ast.expr) -> str:
        """An expression's text, in parentheses where it needs them as an operand of any operator."""
        text = self.segment(node)
        bare = isinstance(node, _ATOMS) or (isinstance(node, ast.Tuple) and text[0] == "(" and text[-1] == ")")
        return text if bare else f"({text})"

    def functions(self, name: str) -> list[ast.FunctionDef]:
        """Every definition of that name; a file may hold several, chosen at import."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef) and node.name == name]

    def edited(self, edits: Iterable[Edit]) -> str | None:
        """The text with all edits applied; None when two of them overlap or the result is not valid Python."""
        text, before = self.text, len(self.text) + 1
        for edit in sorted(set(edits), reverse=True):
            if edit.end > before:
                return None
            text = text[: edit.start] + edit.text + text[edit.end :]
            before = edit.start
        return text if Module.parse(text) is not None else None


@lru_cache(maxsize=16)
def _parsed(text: str) -> ast.Module | None:
    """The syntax tree; it must not be changed. A reducer parses each text several times in a row."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def diff(before: str, after: str, name: str) -> str:
    """A unified diff for ``patch -p1`` in the file's folder."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}", n=2
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def transferred(before: str, after: str, whole: str) -> str:
    """The changes from ``before`` to ``after``, made in ``whole``: the same lines, but for those that are blank in
    ``before``. Where it has another number of lines, ``after``."""
    old, new, lines = (text.splitlines(keepends=True) for text in (before, after, whole))
    if len(old) != len(lines):
        return after
    result: list[str] = []
    for tag, first, end, new_first, new_end in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if tag == "equal":
            result += lines[first:end]
        else:
            result += new[new_first:new_end]
            result += [line for blank, line in zip(old[first:end], lines[first:end], strict=True) if not blank.strip()]
    return "".join(result)


def called(node: ast.AST) -> str:
    """The last component of what a call calls: ``dot`` for ``tl.dot(…)``; "" for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def calls(tree: ast.AST, *names: str) -> list[ast.Call]:
    """Every call of any of these functions or methods, by the last component of its name."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) in names]


def entries(node: ast.AST | None) -> list[ast.expr]:
    """The entries of a list or a tuple that is written out; none of anything else."""
    return node.elts if isinstance(node, ast.List | ast.Tuple) else []


def argument(call: ast.Call, position: int, *names: str) -> ast.expr | None:
    """An argument by position or by any of its names."""
    for keyword in call.keywords:
        if keyword.arg in names:
            return keyword.value
    if position < len(call.args) and not any(isinstance(arg, ast.Starred) for arg in call.args[: position + 1]):
        return call.args[position]
    return None


def assignments(function: ast.FunctionDef, name: str) -> list[ast.Assign | ast.AugAssign | ast.AnnAssign]:
    """Every statement that gives a local name a value, in the order of the text."""
    result: list[ast.Assign | ast.AugAssign | ast.AnnAssign] = []
    for node in statements(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                result.append(node)
            case ast.AugAssign(target=ast.Name(id=target)) | ast.AnnAssign(target=ast.Name(id=target)):
                if target == name and isinstance(node, ast.AugAssign | ast.AnnAssign):
                    result.append(node)
    return result


def statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Every statement of a function, nested ones too, in the order of the text."""
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function)
    yield from sorted(nodes, key=lambda node: (node.lineno, node.col_offset))


def read_counts(within: Sequence[ast.AST]) -> Counter[str]:
    """How often each name is read: :func:`uses` for all names at once."""
    counts, waiting = Counter[str](), list(within)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                counts[node.id] += 1
        else:
            waiting += children(node)
    return counts


def uses(within: ast.AST | Sequence[ast.AST], name: str) -> list[ast.Name]:
    """Every node that reads a name, in one tree or in several."""
    return [
        node
        for root in ([within] if isinstance(within, ast.AST) else within)
        for node in ast.walk(root)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
