"""Whole statements: taken out, dead ones first; branches and loops give way to what is in them."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from triage.minimize.source.view import Step, View, defaults, grouped, parameters, uses
from triage.source.module import Edit

_COMMA = re.compile(r"[ \t]*,")


def top_level(view: View) -> list[Step]:
    """Functions, classes, assignments and imports of the file, but for the kernel; back to front."""
    kept = view.kernel
    found = [statement for statement in view.module.tree.body if statement is not kept]
    return [Step((view.removal(statement),)) for statement in reversed(found)]


def decorators(view: View) -> list[Step]:
    """Decorators other than the last, which jits: autotune and heuristics say nothing that the case does not."""
    found = []
    for function in view.functions:
        for decorator, below in zip(function.decorator_list, function.decorator_list[1:], strict=False):
            start = view.specimen.text.rindex("@", 0, view.module.span(decorator)[0])
            end = view.specimen.text.rindex("@", 0, view.module.span(below)[0])
            found.append(Step((Edit(start, end, ""),)))
    for function in view.functions:
        last = function.decorator_list[-1]
        if isinstance(last, ast.Call):
            found.append(Step((view.module.replace(last, view.module.segment(last.func)),)))
    return found


def at_depth(view: View, depth: int) -> list[Step]:
    """Every statement at that depth (1: the bodies of functions), back to front."""
    found = [
        statement
        for level, block in view.blocks()
        if level == depth
        for statement in block
        if not isinstance(statement, ast.Pass) and not (depth == 0 and statement is view.kernel)
    ]
    found.sort(key=lambda statement: statement.lineno, reverse=True)
    return [Step((view.removal(statement),)) for statement in found]


def depth(view: View) -> int:
    """Of the deepest block."""
    return max((level for level, _ in view.blocks()), default=0)


def dead(view: View) -> list[Step]:
    """Assignments, parameters and imports that nothing reads; back to front."""
    found: list[tuple[int, Step]] = []
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
                found.append((node.lineno, Step((view.removal(node),))))
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
            found.append((statement.lineno, Step((view.removal(statement),))))
        elif isinstance(statement, ast.ImportFrom) and len(bound) > 1:
            used = [alias for alias, name in zip(statement.names, bound, strict=True) if uses(others, name)]
            if len(used) < len(bound):
                fewer = ast.ImportFrom(statement.module, used, statement.level)
                found.append((statement.lineno, Step((view.module.replace(statement, ast.unparse(fewer)),))))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return [*(step for _, step in found), *_dead_parameters(view)]


def _dead_parameters(view: View) -> list[Step]:
    kernel = view.kernel
    if kernel is None:
        return []
    return [
        Step((without_parameter(view, kernel, argument),), (argument.arg,))
        for argument in parameters(kernel)
        if not uses(kernel.body, argument.arg)
    ]


def without_parameter(view: View, function: ast.FunctionDef, argument: ast.arg) -> Edit:
    """A parameter taken out, with its annotation, its default and one comma."""
    arguments = parameters(function)
    place = arguments.index(argument)
    start, end = view.module.span(argument)
    if place + 1 < len(arguments):
        return Edit(start, view.module.span(arguments[place + 1])[0], "")
    end = max([end, *(view.module.span(default)[1] for one, default in defaults(function) if one is argument)])
    text = view.specimen.text
    if place:
        return Edit(text.rindex(",", 0, start), end, "")
    # The only one: a comma behind it may not stay.
    comma = _COMMA.match(text, end)
    return Edit(start, comma.end() if comma else end, "")


def flattened(view: View) -> list[Step]:
    """An ``if`` becomes one of its branches, a loop its body run once, a ``with`` its body."""
    found: list[Step] = []
    outside = [node for node in view.outside if isinstance(node, ast.If | ast.With | ast.Try)]
    for nodes in [outside, *(ast.walk(function) for function in view.functions)]:
        for node in nodes:
            match node:
                case ast.If(body=body, orelse=orelse):
                    found += [_instead(view, node, body)] + ([_instead(view, node, orelse)] if orelse else [])
                case ast.While(body=body) | ast.With(body=body) | ast.Try(body=body):
                    found.append(_instead(view, node, body))
                case ast.For(target=ast.Name(id=name), body=body):
                    found.append(_instead(view, node, body, name))
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(
                    values
                ):
                    found.append(_apart(view, node, names, values))
                case ast.AugAssign(target=target, value=value):
                    text = f"{view.module.segment(target)} = {view.module.segment(value)}"
                    found.append(Step((view.module.replace(node, text),)))
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    text = f"{view.module.segment(target)} = {view.module.segment(value)}"
                    found.append(Step((view.module.replace(node, text),)))
                case ast.Assign(targets=[_], value=value) | ast.Return(value=ast.expr() as value):
                    if isinstance(value, ast.Call):
                        found.append(Step((view.module.replace(node, view.module.segment(value)),)))
    return found


def _apart(view: View, node: ast.Assign, names: list[ast.expr], values: list[ast.expr]) -> Step:
    """``a, b = x, y`` as one statement a name. Where ``y`` reads ``a`` that is another program: the oracle says."""
    pairs = [
        f"{view.module.segment(name)} = {view.module.segment(value)}" for name, value in zip(names, values, strict=True)
    ]
    return Step((view.module.replace(node, f"\n{' ' * node.col_offset}".join(pairs)),))


def _instead(view: View, node: ast.stmt, body: list[ast.stmt], counter: str | None = None) -> Step:
    """A block in the place of the statement that holds it; a loop's counter becomes 0."""
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
    return Step((module.replace(node, shown),))


def inlined(view: View) -> list[Step]:
    """A name that is given a value once and read once gives way to the value; one that merely renames does always."""
    found = []
    for function in view.functions:
        for node, block in _assignments(function):
            target = node.targets[0]
            assert isinstance(target, ast.Name)
            stores = [
                other
                for other in ast.walk(function)
                if isinstance(other, ast.Name) and other.id == target.id and isinstance(other.ctx, ast.Store)
            ]
            reads = uses(function.body, target.id)
            plain = isinstance(node.value, ast.Name | ast.Constant)
            if len(stores) != 1 or not reads or (len(reads) > 1 and not plain):
                continue
            rest = block[block.index(node) + 1 :]
            if all(any(read is child for one in rest for child in ast.walk(one)) for read in reads):
                edits = [view.module.replace(read, grouped(view, node.value)) for read in reads]
                found.append(Step((view.removal(node), *edits)))
    return found


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[ast.Assign, list[ast.stmt]]]:
    for node in ast.walk(function):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for statement in block:
                    match statement:
                        case ast.Assign(targets=[ast.Name()]):
                            yield statement, block
