"""Comments and docstrings removed; neutral names for an anonymous result."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import replace

from triage.minimize.source.specimen import Specimen
from triage.minimize.source.tidy import tidied
from triage.minimize.source.view import SourcePatch, View
from triage.model.case import frozen
from triage.source.functions import parameters, stored_names
from triage.source.module import Edit
from triage.source.names import scope


def stripped(specimen: Specimen) -> Specimen:
    """The specimen without comments and docstrings."""
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
        comments = [
            token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT
        ]
    except (tokenize.TokenError, SyntaxError):
        return text
    gone = set()
    for token in comments:
        row, column = token.start
        lines[row - 1] = lines[row - 1][:column].rstrip()
        if not lines[row - 1]:
            gone.add(row - 1)
    return "\n".join(line for number, line in enumerate(lines) if number not in gone)


def renamed(specimen: Specimen) -> Specimen:
    """The specimen with its kernel named ``kernel``, helpers ``f0``, arguments ``a0`` and local names ``x0``,
    numbered in the order of the text."""
    view = View.of(specimen)
    if view is None or view.kernel is None:
        return specimen
    helpers = [function for function in view.functions if function is not view.kernel]
    globals_ = {helper.name: f"f{number}" for number, helper in enumerate(helpers)}
    globals_[view.kernel.name] = "kernel"
    unchanged = scope(view.module.tree.body) - globals_.keys()
    edits: list[Edit] = []
    arguments: dict[str, str] = {}
    tables = {}
    for function in view.functions:
        names = {argument.arg: f"a{number}" for number, argument in enumerate(parameters(function))}
        local: dict[str, str] = {}
        for name in sorted(stored_names(function), key=lambda node: (node.lineno, node.col_offset)):
            if name.id not in names:
                local.setdefault(name.id, f"x{len(local)}")
        tables[function.name] = {**{k: v for k, v in local.items() if k not in unchanged}, **names}
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


def strings(view: View) -> list[SourcePatch]:
    """Empty every string."""
    return [
        SourcePatch((view.module.replace(node, '""'),))
        for function in view.functions
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    ]
