"""Comments and docstrings removed; neutral names for an anonymous result."""

import ast
import io
import tokenize
from collections.abc import Iterable
from dataclasses import replace

from triage.minimize.source.specimen import Specimen
from triage.minimize.source.tidy import tidied
from triage.minimize.source.view import SourcePatch, View
from triage.model.case import Frozen, frozen
from triage.source.functions import parameters, stored_names
from triage.source.module import Edit
from triage.source.names import scope

KERNEL = "kernel"
"""The name of a kernel in an anonymous result."""


def stripped(specimen: Specimen) -> Specimen:
    """The specimen without comments and docstrings."""
    view = View.of(specimen)
    if view is None:
        return specimen
    edits = [
        view.removal(node.body[0])
        for node in ast.walk(view.module.tree)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None
    ]
    text = view.module.edited(edits) or specimen.text
    return replace(specimen, text=tidied(_without_comments(text)))


def _without_comments(text: str) -> str:
    lines = text.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    for row, column in [token.start for token in reversed(tokens) if token.type == tokenize.COMMENT]:
        before = lines[row - 1][:column].rstrip()
        lines[row - 1 : row] = [before] if before else []
    return "\n".join(lines)


def renamed(specimen: Specimen) -> Specimen:
    """The specimen with its kernel named ``kernel``, helpers ``f0``, arguments ``a0`` and local names ``x0``,
    numbered in the order of the text. Unchanged where the kernel is a class."""
    view = View.of(specimen)
    if view is None or view.kernel is None or view.kernel is not view.definition:
        return specimen
    helpers = [function.name for function in view.functions if function is not view.kernel]
    globals_ = {name: f"f{number}" for number, name in enumerate(helpers)} | {view.kernel.name: KERNEL}
    unchanged = scope(view.module.tree.body) - globals_.keys()
    edits: list[Edit] = []
    arguments = _numbered("a", [argument.arg for argument in parameters(view.kernel)])
    tables = {}
    for function in view.functions:
        names = _numbered("a", [argument.arg for argument in parameters(function)])
        stored = sorted(stored_names(function), key=lambda node: (node.lineno, node.col_offset))
        local = _numbered("x", [node.id for node in stored if node.id not in names])
        tables[function.name] = {**{old: new for old, new in local.items() if old not in unchanged}, **names}
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

    def with_new_names(values: Frozen) -> Frozen:
        return frozen({arguments.get(name, name): value for name, value in values.items()})

    changed = replace(
        case,
        name=KERNEL,
        signature=with_new_names(case.signature),
        constexprs=with_new_names(case.constexprs),
        divisible=with_new_names(case.divisible),
        origin=frozen(),
        inputs=frozen(),
    )
    return replace(specimen, text=text, case=changed)


def _numbered(prefix: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{prefix}{number}" for number, name in enumerate(dict.fromkeys(names))}


def strings(view: View) -> list[SourcePatch]:
    """Empty every string."""
    return [
        view.replacing(node, '""')
        for function in view.functions
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value
    ]
