"""Passes over whole statements: removed, dead ones first; branches and loops replaced by their bodies."""

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from triage.minimize.source.view import SourcePatch, View
from triage.source.functions import defaults, parameters, stored_names
from triage.source.module import Edit, read_counts, statements, uses
from triage.source.names import scope

_COMMA = re.compile(r"[ \t]*,")


def top_level(view: View) -> list[SourcePatch]:
    """Remove the file's functions, classes, assignments and imports, except the kernel; back to front."""
    return [
        view.removing(statement) for statement in reversed(view.module.tree.body) if statement is not view.definition
    ]


def unreached(view: View) -> list[SourcePatch]:
    """Remove, together, the file's statements that bind no name which the kernel reads, directly or through others."""
    read, waiting = set[str](), list[ast.AST]([view.definition] if view.definition is not None else [])
    left: list[ast.stmt] = [statement for statement in view.module.tree.body if statement is not view.definition]
    while waiting:
        read |= {part.id for part in ast.walk(waiting.pop()) if isinstance(part, ast.Name)}
        reached = [statement for statement in left if scope([statement]) & read]
        left = [statement for statement in left if statement not in reached]
        waiting += reached
    return [SourcePatch(tuple(view.removal(statement) for statement in left))] if left else []


def decorators(view: View) -> list[SourcePatch]:
    """Remove decorators other than the last, which jits: what autotune and heuristics choose is in the case."""
    patches = []
    for function in view.functions:
        starts = [view.specimen.text.rindex("@", 0, view.module.span(node)[0]) for node in function.decorator_list]
        patches += [SourcePatch((Edit(start, end, ""),)) for start, end in pairwise(starts)]
    for function in view.functions:
        last = function.decorator_list[-1]
        if isinstance(last, ast.Call):
            patches.append(view.replacing(last, view.module.segment(last.func)))
    return patches


def at_depth(view: View, depth: int) -> list[SourcePatch]:
    """Remove statements at one depth (1: the bodies of functions), back to front."""
    blocks = [block for level, block in view.blocks if level == depth]
    statements = [statement for block in blocks for statement in block if not isinstance(statement, ast.Pass)]
    statements.sort(key=lambda statement: statement.lineno, reverse=True)
    return [view.removing(statement) for statement in statements]


def depth(view: View) -> int:
    """The depth of the deepest block."""
    return max((level for level, _ in view.blocks), default=0)


def dead(view: View) -> list[SourcePatch]:
    """Remove assignments, parameters and imports that nothing reads; back to front."""
    by_line: list[tuple[int, SourcePatch]] = []
    for function in view.functions:
        reads = read_counts(function.body)
        for node in statements(function):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)])
                    | ast.AnnAssign(target=ast.Name(id=name))
                    | ast.AugAssign(target=ast.Name(id=name))
                ):
                    # An assignment may read its own name.
                    if reads[name] == read_counts([node])[name]:
                        by_line.append((node.lineno, view.removing(node)))
    body = view.module.tree.body
    reads = read_counts(body)
    for statement in body:
        match statement:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                bound = [(alias.asname or alias.name).partition(".")[0] for alias in names]
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound = [name]
            case _:
                continue
        own = read_counts([statement])
        unread = [reads[name] == own[name] for name in bound]
        if statement is not view.definition and all(unread):
            by_line.append((statement.lineno, view.removing(statement)))
        elif isinstance(statement, ast.ImportFrom) and any(unread):
            used = [alias for alias, gone in zip(statement.names, unread, strict=True) if not gone]
            fewer = ast.ImportFrom(statement.module, used, statement.level)
            by_line.append((statement.lineno, view.replacing(statement, ast.unparse(fewer))))
    patches = [patch for _, patch in sorted(by_line, key=lambda pair: pair[0], reverse=True)]
    if (kernel := view.kernel) is not None:
        reads = read_counts(kernel.body)
        unused = [argument for argument in view.arguments if not reads[argument.arg]]
        patches += [SourcePatch((without_parameter(view, kernel, argument),), (argument.arg,)) for argument in unused]
    return patches


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
    segment = view.module.segment
    outside = [node for node in view.outside if isinstance(node, ast.If | ast.With | ast.Try)]
    for node in [*outside, *(node for function in view.functions for node in ast.walk(function))]:
        match node:
            case ast.If(body=body, orelse=orelse):
                patches += [unwrapped(view, node, block) for block in (body, orelse) if block]
            case ast.While(body=body) | ast.With(body=body) | ast.Try(body=body):
                patches.append(unwrapped(view, node, body))
            case ast.For(target=ast.Name(id=name), body=body):
                patches.append(unwrapped(view, node, body, name))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                # Where a later value reads an earlier name it is another program.
                patches.append(split_assignment(view, node, names, values))
            case ast.AugAssign(target=target, value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
                patches.append(view.replacing(node, f"{segment(target)} = {segment(value)}"))
            case ast.Assign(targets=[_], value=ast.Call() as call) | ast.Return(value=ast.Call() as call):
                patches.append(view.replacing(node, segment(call)))
    return patches


def split_assignment(view: View, node: ast.stmt, names: list[ast.expr], values: list[ast.expr]) -> SourcePatch:
    """Replace an assignment of a tuple by one statement for each name."""
    segment = view.module.segment
    pairs = [f"{segment(name)} = {segment(value)}" for name, value in zip(names, values, strict=True)]
    return view.replacing(node, f"\n{' ' * node.col_offset}".join(pairs))


def unwrapped(view: View, node: ast.stmt, body: list[ast.stmt], counter: str | None = None) -> SourcePatch:
    """Replace a compound statement by a block of it; a loop's counter becomes 0."""
    text, module = view.specimen.text, view.module
    start, end = view.span(body[0])[0], module.span(body[-1])[1]
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        start = line
    inner = text[start:end]
    if counter is not None:
        for edit in sorted((module.replace(use, "0") for use in uses(body, counter)), reverse=True):
            inner = inner[: edit.start - start] + edit.text + inner[edit.end - start :]
    indented = textwrap.indent(textwrap.dedent(inner), " " * node.col_offset).lstrip(" ")
    return view.replacing(node, indented.removeprefix("el") if isinstance(body[0], ast.If) else indented)


def inlined(view: View) -> list[SourcePatch]:
    """Replace a name that is assigned once and read once by its value; one that merely renames, wherever it is read."""
    patches = []
    for function in view.functions:
        stores = Counter(name.id for name in stored_names(function))
        for name, node, rest in _assignments(function):
            reads = uses(function.body, name)
            renames = isinstance(node.value, ast.Name | ast.Constant)
            if stores[name] != 1 or not reads or (len(reads) > 1 and not renames):
                continue
            if len(uses(rest, name)) == len(reads):
                edits = [view.module.replace(read, view.module.operand(node.value)) for read in reads]
                patches.append(SourcePatch((view.removal(node), *edits)))
    return patches


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[str, ast.Assign, list[ast.stmt]]]:
    """Assignments to a single name, with the name and the statements after them in their block."""
    for node in ast.walk(function):
        for block in (getattr(node, "body", []), getattr(node, "orelse", [])):
            # The parts of a conditional expression and of a lambda are not lists.
            for number, statement in enumerate(block if isinstance(block, list) else []):
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)]):
                        yield name, statement, block[number + 1 :]
