"""A specimen as text and tree together, and the steps that take something out of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from triage.minimize.source.names import undefined
from triage.minimize.specimen import Specimen
from triage.source.module import Edit, Module

WIDEST = 110
"""Characters: what is joined in a line can still be read."""
_PASS = "pass"
_EMPTY = re.compile(r"\(\s+\)")
_JITTED = re.compile(r"(?:^|\.)jit$|^constexpr_function$")


@dataclass(frozen=True, slots=True)
class Step:
    """Edits that belong together. ``drop``: arguments of the kernel that go with them."""

    edits: tuple[Edit, ...]
    drop: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """One specimen, parsed."""

    specimen: Specimen
    module: Module

    @classmethod
    def of(cls, specimen: Specimen) -> View | None:
        """None where the text is not Python."""
        module = Module.parse(specimen.text)
        return cls(specimen, module) if module is not None else None

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """The jitted functions that are the file's own, in the order of the text."""
        return [node for node in self.outside if isinstance(node, ast.FunctionDef) and jitted(node)]

    @cached_property
    def outside(self) -> list[ast.stmt]:
        """Statements that no function or class holds, in the order of the text: those in branches of the file too."""
        found: list[ast.stmt] = []
        waiting: list[ast.AST] = [*reversed(self.module.tree.body)]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.stmt):
                found.append(node)
            if isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.ExceptHandler):
                inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt | ast.ExceptHandler)]
                waiting += reversed(inner)
        return found

    @cached_property
    def kernel(self) -> ast.FunctionDef | None:
        """The kernel; the last of that name, as Python has it."""
        named = [one for one in self.functions if one.name == self.specimen.case.name]
        return named[-1] if named else None

    def blocks(self) -> Iterator[tuple[int, list[ast.stmt]]]:
        """Every block of statements with its depth: 0 is the file itself."""
        waiting: list[tuple[int, ast.AST]] = [(0, self.module.tree)]
        while waiting:
            depth, node = waiting.pop(0)
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield depth, block
                    waiting += [(depth + 1, child) for child in block]

    def removal(self, statement: ast.stmt) -> Edit:
        """A statement taken out; ``pass`` holds its place until the block is tidied."""
        return Edit(*self.span(statement), _PASS)

    def span(self, statement: ast.stmt) -> tuple[int, int]:
        """Where a statement is, its decorators included."""
        first = min([statement, *getattr(statement, "decorator_list", [])], key=lambda node: node.lineno)
        start, _ = self.module.span(first)
        if first is not statement:
            start = self.specimen.text.rindex("@", 0, start)
        return start, self.module.span(statement)[1]

    def without_argument(self, call: ast.Call, gone: ast.expr | ast.keyword) -> Edit:
        """One argument out of a call, with parentheses around it and its comma."""
        text, end = self.specimen.text, self.module.span(call)[1] - 1
        given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        given.sort(key=lambda one: (one.lineno, one.col_offset))
        place = given.index(gone)
        begin = text.index("(", self.module.span(call.func)[1]) + 1
        if place:
            begin = text.index(",", self.module.span(given[place - 1])[1])
        if place + 1 == len(given):
            return Edit(begin, end, "")
        after = text.index(",", self.module.span(gone)[1])
        return Edit(begin, after if place else self.module.span(given[1])[0], "")

    def apply(self, steps: Iterable[Step]) -> Specimen | None:
        """The specimen after these steps; None where they overlap or what is left cannot be a kernel."""
        taken = list(steps)
        text = self.module.edited(edit for step in taken for edit in step.edits)
        if text is None:
            return None
        dropped = tuple(name for step in taken for name in step.drop)
        changed = replace(self.specimen, text=tidied(text), case=self.specimen.without(dropped))
        if changed.text == self.specimen.text or _width(changed.text) > max(WIDEST, _width(self.specimen.text)):
            return None
        return changed if sound(changed) else None


def _width(text: str) -> int:
    return max(map(len, text.split("\n")))


def jitted(function: ast.FunctionDef) -> bool:
    """Decorated with ``triton.jit``, ``gluon.jit`` or the like."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _JITTED.search(ast.unparse(called)):
            return True
    return False


def parameters(function: ast.FunctionDef) -> list[ast.arg]:
    """All named parameters."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def defaults(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr]]:
    """Parameters that have a default value, each with it."""
    placed = [*function.args.posonlyargs, *function.args.args]
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [
        *zip(placed[len(placed) - len(function.args.defaults) :], function.args.defaults, strict=True),
        *((argument, default) for argument, default in named if default is not None),
    ]


def sound(specimen: Specimen) -> bool:
    """Whether a candidate is worth a compile: it parses, its kernel is there, decorated, and has the arguments of the
    case, constexprs annotated; no name is undefined."""
    view = View.of(specimen)
    if view is None or view.kernel is None:
        return False
    case = specimen.case
    arguments = parameters(view.kernel)
    defaults = view.kernel.args.defaults or any(view.kernel.args.kw_defaults)
    given = {*case.signature, *case.constexprs}
    names = {argument.arg for argument in arguments}
    if not given <= names or (names - given and not defaults):
        return False
    for argument in arguments:
        annotated = argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)
        if annotated and argument.arg in case.signature:
            return False
    return undefined(view.module.tree) <= specimen.loose


def tidied(text: str) -> str:
    """Without the ``pass`` that a block does not need, and without heaps of blank lines."""
    module = Module.parse(text)
    if module is None:
        return text
    view = View(Specimen(text, None), module)  # type: ignore[arg-type]  # blocks() looks at the tree alone
    cut: list[tuple[int, int]] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.If) and node.orelse and all(isinstance(one, ast.Pass) for one in node.orelse):
            cut.append((module.span(node.body[-1])[1], module.span(node.orelse[-1])[1]))
    for depth, block in view.blocks():
        idle = [statement for statement in block if isinstance(statement, ast.Pass)]
        idle = idle if depth == 0 or len(idle) < len(block) else idle[1:]
        cut += [_with_its_line(text, *module.span(statement)) for statement in idle]
    before = len(text)
    for start, end in sorted(cut, key=lambda pair: pair[1], reverse=True):
        text = text[:start] + text[min(end, before) :] if start < before else text
        before = min(before, start)
    return _unblanked(_EMPTY.sub("()", text)).lstrip("\n")


def _unblanked(text: str) -> str:
    """Blank lines as they are written where nothing was taken out: none where a block begins, one within it, two
    between what stands at the margin."""
    kept: list[str] = []
    blank = 0
    for line in text.split("\n"):
        if not line.strip():
            blank += 1
            continue
        if kept and not kept[-1].rstrip().endswith((":", "(", "[", ",")):
            kept += [""] * min(blank, 1 if line[0].isspace() else 2)
        kept.append(line)
        blank = 0
    return "\n".join([*kept, ""])


def _with_its_line(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of a statement, with the rest of its line where nothing else stands there."""
    head = text.rfind("\n", 0, start) + 1
    tail = text.find("\n", end)
    tail = len(text) if tail < 0 else tail
    rest = text[end:tail]
    if not text[head:start].strip() and (not rest.strip() or rest.lstrip().startswith("#")):
        return head, min(len(text), tail + 1)
    if rest.lstrip().startswith(";"):
        return start, end + len(rest) - len(rest.lstrip("; "))
    return start, end


def grouped(view: View, node: ast.expr) -> str:
    """An expression's text, fit to stand as an operand."""
    text = view.module.segment(node)
    plain = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.Tuple | ast.List
    return text if isinstance(node, plain) else f"({text})"


def nodes(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Every node of a function's body with the one above it."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(function, statement) for statement in function.body]
    while waiting:
        above, node = waiting.pop(0)
        yield above, node
        waiting += [(node, child) for child in ast.iter_child_nodes(node)]


def uses(nodes_of: ast.AST | Sequence[ast.AST], name: str) -> list[ast.Name]:
    """Every place that reads a name."""
    roots = [nodes_of] if isinstance(nodes_of, ast.AST) else nodes_of
    return [
        node
        for root in roots
        for node in ast.walk(root)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
