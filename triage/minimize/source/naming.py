"""Comments and docstrings out; names short, and in an anonymous case nobody's."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import replace

from triage.minimize.source.names import scope
from triage.minimize.source.view import Step, View, parameters, tidied
from triage.minimize.specimen import Specimen
from triage.model.case import frozen
from triage.source.module import Edit


def stripped(specimen: Specimen) -> Specimen:
    """Without comments and docstrings."""
    view = View.of(specimen)
    if view is None:
        return specimen
    edits = []
    for node in ast.walk(view.module.tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                edits.append(view.removal(first))
    text = view.module.edited(edits) or specimen.text
    return replace(specimen, text=tidied(_without_comments(text)))


def _without_comments(text: str) -> str:
    lines = text.split("\n")
    try:
        found = [
            token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT
        ]
    except (tokenize.TokenError, SyntaxError):
        return text
    gone = set()
    for token in found:
        row, column = token.start
        lines[row - 1] = lines[row - 1][:column].rstrip()
        if not lines[row - 1]:
            gone.add(row - 1)
    return "\n".join(line for number, line in enumerate(lines) if number not in gone)


def renamed(specimen: Specimen) -> Specimen:
    """The kernel is ``kernel``, helpers ``f0``, arguments ``a0``, local names ``x0``, in the order of the text."""
    view = View.of(specimen)
    if view is None or view.kernel is None:
        return specimen
    globals_ = {one.name: f"f{place}" for place, one in enumerate(f for f in view.functions if f is not view.kernel)}
    globals_[view.kernel.name] = "kernel"
    kept = scope(view.module.tree.body) - globals_.keys()
    edits: list[Edit] = []
    arguments: dict[str, str] = {}
    tables = {}
    for function in view.functions:
        names = {one.arg: f"a{place}" for place, one in enumerate(parameters(function))}
        local: dict[str, str] = {}
        stored = [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        for name in sorted(stored, key=lambda one: (one.lineno, one.col_offset)):
            if name.id not in names:
                local.setdefault(name.id, f"x{len(local)}")
        tables[function.name] = {**{k: v for k, v in local.items() if k not in kept}, **names}
        if function is view.kernel:
            arguments = names
    for function in view.functions:
        table = {**globals_, **tables[function.name]}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in table:
                edits.append(view.module.replace(node, table[node.id]))
            elif isinstance(node, ast.arg) and node.arg in table:
                start, _ = view.module.span(node)
                edits.append(Edit(start, start + len(node.arg), table[node.arg]))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tables:
                for keyword in node.keywords:
                    if keyword.arg in tables[node.func.id]:
                        start, _ = view.module.span(keyword)
                        edits.append(Edit(start, start + len(keyword.arg), tables[node.func.id][keyword.arg]))
        start = view.specimen.text.index(function.name, view.module.span(function)[0] + len("def"))
        edits.append(Edit(start, start + len(function.name), globals_[function.name]))
    text = view.module.edited(edits)
    if text is None:
        return specimen
    case = specimen.case
    changed = replace(
        case,
        name="kernel",
        signature=frozen({arguments.get(name, name): value for name, value in case.signature.items()}),
        constexprs=frozen({arguments.get(name, name): value for name, value in case.constexprs.items()}),
        divisible=frozen({arguments.get(name, name): value for name, value in case.divisible.items()}),
        origin=frozen(),
        inputs=frozen(),
    )
    return replace(specimen, text=text, case=changed)


def strings(view: View) -> list[Step]:
    """Every text constant, empty."""
    return [
        Step((view.module.replace(node, '""'),))
        for function in view.functions
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    ]
