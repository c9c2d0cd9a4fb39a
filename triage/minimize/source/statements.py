"""Passes over whole statements: removed, dead ones first; branches and loops replaced by their bodies."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from triage.minimize.source.view import SourcePatch, View
from triage.source.functions import defaults, parameters, stored_names
from triage.source.module import Edit, uses

_COMMA = re.compile(r"[ \t]*,")


def top_level(view: View) -> list[SourcePatch]:
    """Remove the file's functions, classes, assignments and imports, except the kernel; back to front."""
    statements = [statement for statement in view.module.tree.body if statement is not view.kernel]
    return [SourcePatch((view.removal(statement),)) for statement in reversed(statements)]


def decorators(view: View) -> list[SourcePatch]:
    """Remove decorators other than the last, which jits: what autotune and heuristics choose is in the case."""
    patches = []
    for function in view.functions:
        for decorator, below in zip(function.decorator_list, function.decorator_list[1:], strict=False):
            start = view.specimen.text.rindex("@", 0, view.module.span(decorator)[0])
            end = view.specimen.text.rindex("@", 0, view.module.span(below)[0])
            patches.append(SourcePatch((Edit(start, end, ""),)))
    for function in view.functions:
        last = function.decorator_list[-1]
        if isinstance(last, ast.Call):
            patches.append(SourcePatch((view.module.replace(last, view.module.segment(last.func)),)))
    return patches


def at_depth(view: View, depth: int) -> list[SourcePatch]:
    """Remove statements at one depth (1: the bodies of functions), back to front."""
    statements = [
        statement
        for level, block in view.blocks
        if level == depth
        for statement in block
        if not isinstance(statement, ast.Pass) and not (depth == 0 and statement is view.kernel)
    ]
    statements.sort(key=lambda statement: statement.lineno, reverse=True)
    return [SourcePatch((view.removal(statement),)) for statement in statements]


def depth(view: View) -> int:
    """The depth of the deepest block."""
    return max((level for level, _ in view.blocks), default=0)


def dead(view: View) -> list[SourcePatch]:
    """Remove assignments, parameters and imports that nothing reads; back to front."""
    by_line: list[tuple[int, SourcePatch]] = []
    for function in view.functions:
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    reads = uses(function.body, name)
                case ast.AugAssign(target=ast.Name(id=name)):
                    reads = uses(function.body, name)
                case _:
                    continue
            assert isinstance(node, ast.stmt)
            inside = {id(child) for child in ast.walk(node)}
            if all(id(read) in inside for read in reads):
                by_line.append((node.lineno, SourcePatch((view.removal(node),))))
    for statement in view.module.tree.body:
        match statement:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                bound = [(alias.asname or alias.name).partition(".")[0] for alias in names]
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound = [name]
            case _:
                continue
        others = [other for other in view.module.tree.body if other is not statement]
        if statement is not view.kernel and not any(uses(others, name) for name in bound):
            by_line.append((statement.lineno, SourcePatch((view.removal(statement),))))
        elif isinstance(statement, ast.ImportFrom) and len(bound) > 1:
            used = [alias for alias, name in zip(statement.names, bound, strict=True) if uses(others, name)]
            if len(used) < len(bound):
                fewer = ast.ImportFrom(statement.module, used, statement.level)
                patch = SourcePatch((view.module.replace(statement, ast.unparse(fewer)),))
                by_line.append((statement.lineno, patch))
    by_line.sort(key=lambda pair: pair[0], reverse=True)
    return [*(patch for _, patch in by_line), *_dead_parameters(view)]


def _dead_parameters(view: View) -> list[SourcePatch]:
    kernel = view.kernel
    if kernel is None:
        return []
    return [
        SourcePatch((without_parameter(view, kernel, argument),), (argument.arg,))
        for argument in parameters(kernel)
        if not uses(kernel.body, argument.arg)
    ]


def without_parameter(view: View, function: ast.FunctionDef, argument: ast.arg) -> Edit:
    """Remove a parameter, with its annotation, its default and one comma."""
    arguments = parameters(function)
    index = arguments.index(argument)
    start, end = view.module.span(argument)
    if index + 1 < len(arguments):
        return Edit(start, view.module.span(arguments[index + 1])[0], "")
    end = max([end, *(view.module.span(value)[1] for other, value in defaults(function) if other is argument)])
    text = view.specimen.text
    if index:
        return Edit(text.rindex(",", 0, start), end, "")
    # With the only parameter a trailing comma must go too.
    comma = _COMMA.match(text, end)
    return Edit(start, comma.end() if comma else end, "")


def flattened(view: View) -> list[SourcePatch]:
    """Replace an ``if`` by one of its branches, a loop by its body run once, a ``with`` by its body; split tuple
    assignments and simplify others."""
    patches: list[SourcePatch] = []
    outside = [node for node in view.outside if isinstance(node, ast.If | ast.With | ast.Try)]
    for nodes in [outside, *(ast.walk(function) for function in view.functions)]:
        for node in nodes:
            match node:
                case ast.If(body=body, orelse=orelse):
                    patches += [_unwrapped(view, node, block) for block in (body, orelse) if block]
                case ast.While(body=body) | ast.With(body=body) | ast.Try(body=body):
                    patches.append(_unwrapped(view, node, body))
                case ast.For(target=ast.Name(id=name), body=body):
                    patches.append(_unwrapped(view, node, body, name))
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(
                    values
                ):
                    patches.append(_split(view, node, names, values))
                case ast.AugAssign(target=target, value=value):
                    text = f"{view.module.segment(target)} = {view.module.segment(value)}"
                    patches.append(SourcePatch((view.module.replace(node, text),)))
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    text = f"{view.module.segment(target)} = {view.module.segment(value)}"
                    patches.append(SourcePatch((view.module.replace(node, text),)))
                case ast.Assign(targets=[_], value=value) | ast.Return(value=ast.expr() as value):
                    if isinstance(value, ast.Call):
                        patches.append(SourcePatch((view.module.replace(node, view.module.segment(value)),)))
    return patches


def _split(view: View, node: ast.Assign, names: list[ast.expr], values: list[ast.expr]) -> SourcePatch:
    """Split ``a, b = x, y`` into one statement a name. Where ``y`` reads ``a`` it is another program."""
    pairs = [
        f"{view.module.segment(name)} = {view.module.segment(value)}" for name, value in zip(names, values, strict=True)
    ]
    return SourcePatch((view.module.replace(node, f"\n{' ' * node.col_offset}".join(pairs)),))


def _unwrapped(view: View, node: ast.stmt, body: list[ast.stmt], counter: str | None = None) -> SourcePatch:
    """Replace a compound statement by a block of it; a loop's counter becomes 0."""
    text, module = view.specimen.text, view.module
    start, end = view.span(body[0])[0], module.span(body[-1])[1]
    line = text.rfind("\n", 0, start) + 1
    inner = text[line:end] if not text[line:start].strip() else text[start:end]
    if counter is not None:
        edits = [module.replace(use, "0") for use in uses(body, counter)]
        offset = line if not text[line:start].strip() else start
        for edit in sorted(edits, reverse=True):
            inner = inner[: edit.start - offset] + edit.text + inner[edit.end - offset :]
    indent = " " * node.col_offset
    shown = textwrap.indent(textwrap.dedent(inner), indent).lstrip(" ")
    return SourcePatch((module.replace(node, shown),))


def inlined(view: View) -> list[SourcePatch]:
    """Replace a name that is assigned once and read once by its value; one that merely renames, wherever it is read."""
    patches = []
    for function in view.functions:
        for node, block in _assignments(function):
            target = node.targets[0]
            assert isinstance(target, ast.Name)
            stores = [name for name in stored_names(function) if name.id == target.id]
            reads = uses(function.body, target.id)
            plain = isinstance(node.value, ast.Name | ast.Constant)
            if len(stores) != 1 or not reads or (len(reads) > 1 and not plain):
                continue
            rest = block[block.index(node) + 1 :]
            if all(any(read is child for statement in rest for child in ast.walk(statement)) for read in reads):
                edits = [view.module.replace(read, view.module.operand(node.value)) for read in reads]
                patches.append(SourcePatch((view.removal(node), *edits)))
    return patches


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[ast.Assign, list[ast.stmt]]]:
    for node in ast.walk(function):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for statement in block:
                    match statement:
                        case ast.Assign(targets=[ast.Name()]):
                            yield statement, block
