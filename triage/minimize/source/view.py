"""A specimen as text and syntax tree together, and the patches that take something out of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from triage.minimize.source.specimen import Specimen
from triage.minimize.source.tidy import blocks, tidied
from triage.source.functions import body_nodes, is_jitted, parameters
from triage.source.module import Edit, Module, Node, called
from triage.source.names import undefined

WIDEST = 110
"""Characters a line; joined statements must stay readable."""


@dataclass(frozen=True, slots=True)
class SourcePatch:
    """Edits that belong together. ``drop``: arguments of the kernel that the case loses with them."""

    edits: tuple[Edit, ...]
    drop: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """One specimen, parsed."""

    specimen: Specimen
    module: Module

    @classmethod
    def of(cls, specimen: Specimen) -> View | None:
        """None where the text is not valid Python."""
        module = Module.parse(specimen.text)
        return cls(specimen, module) if module is not None else None

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """The file's own jitted functions and methods, in the order of the text."""
        return [
            node
            for statement in self.outside
            for node in (statement.body if isinstance(statement, ast.ClassDef) else [statement])
            if isinstance(node, ast.FunctionDef) and is_jitted(node)
        ]

    @cached_property
    def outside(self) -> list[ast.stmt]:
        """Statements outside functions and classes, in the order of the text, those in branches included."""
        return list(_outside(self.module.tree))

    @cached_property
    def definition(self) -> ast.FunctionDef | ast.ClassDef | None:
        """The statement that defines the kernel, a function or a class; the last of its name, as in Python."""
        named = [
            statement
            for statement in self.outside
            if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == self.specimen.case.name
        ]
        return named[-1] if named else None

    @cached_property
    def kernel(self) -> ast.FunctionDef | None:
        """The jitted function that the case's arguments are of: the kernel, or the method by which its class is
        called."""
        match self.definition:
            case ast.ClassDef(body=body):
                own = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "__call__"]
                return own[-1] if own and own[-1] in self.functions else None
            case ast.FunctionDef() as function if function in self.functions:
                return function
        return None

    @cached_property
    def constructor(self) -> ast.FunctionDef | None:
        """The method that takes the constructor's arguments, where the kernel is a class with one."""
        body = self.definition.body if isinstance(self.definition, ast.ClassDef) else []
        return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == "__init__"), None)

    @cached_property
    def unlaunched(self) -> frozenset[str]:
        """Kernels that are called and not launched: a fix of their failure would compile nothing."""
        kernels = {
            function.name
            for function in self.functions
            if any(ast.unparse(decorator).endswith(".kernel") for decorator in function.decorator_list)
        }
        launched = {
            id(node.func.value)
            for node in ast.walk(self.module.tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "launch"
        }
        return frozenset(
            called(node)
            for node in ast.walk(self.module.tree)
            if isinstance(node, ast.Call) and called(node) in kernels and id(node) not in launched
        )

    @cached_property
    def arguments(self) -> list[ast.arg]:
        """The kernel's parameters that a case may have: without the object of a method."""
        if self.kernel is None:
            return []
        return parameters(self.kernel)[self.kernel is not self.definition :]

    @cached_property
    def blocks(self) -> list[tuple[int, list[ast.stmt]]]:
        """Every block of statements with its depth: 0 is the file itself."""
        return list(blocks(self.module.tree))

    @cached_property
    def nodes(self) -> list[tuple[ast.AST, ast.AST]]:
        """Every node in the bodies of jitted functions with its parent, breadth first, a function after the other."""
        return [pair for function in self.functions for pair in body_nodes(function)]

    def replacing(self, node: Node, text: str) -> SourcePatch:
        """A patch that replaces a node's text."""
        return SourcePatch((self.module.replace(node, text),))

    def removing(self, statement: ast.stmt) -> SourcePatch:
        """A patch that removes a statement."""
        return SourcePatch((self.removal(statement),))

    def removal(self, statement: ast.stmt) -> Edit:
        """Remove a statement; ``pass`` fills its place until the block is tidied."""
        return Edit(*self.span(statement), "pass")

    def span(self, statement: ast.stmt) -> tuple[int, int]:
        """Start and end of a statement, its decorators included."""
        first = min([statement, *getattr(statement, "decorator_list", [])], key=lambda node: node.lineno)
        start, _ = self.module.span(first)
        if first is not statement:
            start = self.specimen.text.rindex("@", 0, start)
        return start, self.module.span(statement)[1]

    def without_argument(self, call: ast.Call, argument: ast.expr | ast.keyword) -> Edit:
        """Remove an argument from a call, with parentheses around it and its comma."""
        text, end = self.specimen.text, self.module.span(call)[1] - 1
        arguments: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        arguments.sort(key=lambda node: (node.lineno, node.col_offset))
        index = arguments.index(argument)
        begin = text.index("(", self.module.span(call.func)[1]) + 1
        if index:
            begin = text.index(",", self.module.span(arguments[index - 1])[1])
        if index + 1 == len(arguments):
            return Edit(begin, end, "")
        comma = text.index(",", self.module.span(argument)[1])
        return Edit(begin, comma if index else self.module.span(arguments[1])[0], "")

    def apply(self, patches: Iterable[SourcePatch]) -> Specimen | None:
        """The specimen after these patches; None where they overlap, or where the result cannot be a kernel."""
        patches = list(patches)
        text = self.module.edited(edit for patch in patches for edit in patch.edits)
        if text is None:
            return None
        case = self.specimen.case_without([name for patch in patches for name in patch.drop])
        changed = replace(self.specimen, text=tidied(text), case=case)
        if changed.text == self.specimen.text or _width(changed.text) > max(WIDEST, _width(self.specimen.text)):
            return None
        view = View.of(changed)
        return changed if view is not None and view.unlaunched <= self.unlaunched and sound(changed) else None

    def fingerprint(self, patch: SourcePatch) -> str:
        """The lines that a patch changes and their replacement: the same after a change elsewhere in the text."""
        text, parts = self.specimen.text, list[str]()
        for edit in patch.edits:
            start = text.rfind("\n", 0, edit.start) + 1
            end = text.find("\n", edit.end)
            parts += [text[start : edit.start], text[edit.start : edit.end], edit.text, text[edit.end : end]]
        return "\x1f".join([*parts, *patch.drop])


def compatible(patches: Iterable[SourcePatch]) -> list[SourcePatch]:
    """As many of the patches as do not overlap, the first first."""
    taken, edits = list[SourcePatch](), set[Edit]()
    for patch in patches:
        together = sorted({*edits, *patch.edits})
        if all(before.end <= after.start for before, after in pairwise(together)):
            taken.append(patch)
            edits.update(patch.edits)
    return taken


def _outside(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if isinstance(child, ast.If | ast.Try | ast.With | ast.For | ast.ExceptHandler):
            yield from _outside(child)


def _width(text: str) -> int:
    return max(map(len, text.split("\n")))


def sound(specimen: Specimen) -> bool:
    """Whether a candidate is worth a compile: it parses, its kernel is present, jitted, and has the arguments of the
    case, constexprs annotated; no name is undefined that was not in the original."""
    view = View.of(specimen)
    if view is None or view.kernel is None:
        return False
    case = specimen.case
    arguments = {argument.arg: argument.annotation for argument in view.arguments}
    of_case = {*case.signature, *case.constexprs}
    has_defaults = view.kernel.args.defaults or any(view.kernel.args.kw_defaults)
    if not of_case <= arguments.keys() or (arguments.keys() - of_case and not has_defaults):
        return False
    annotations = [annotation for name, annotation in arguments.items() if name in case.signature]
    if any(annotation is not None and "constexpr" in ast.unparse(annotation) for annotation in annotations):
        return False
    return undefined(view.module.tree) <= specimen.undefined
