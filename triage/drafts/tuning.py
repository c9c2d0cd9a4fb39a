"""Autotune configurations and heuristics of a kernel, as its source writes them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from triage.drafts.declarations import literal
from triage.drafts.jitted import Jitted, dotted
from triage.drafts.model import Basis, Value
from triage.drafts.project_file import ProjectFile


def heuristics_of(jitted: Jitted) -> tuple[str, ...]:
    """The parameters that heuristics set."""
    names: dict[str, None] = {}
    for decorator in jitted.decorators:
        if isinstance(decorator, ast.Call) and (dotted(decorator.func) or "").endswith("heuristics"):
            for node in _with_globals(jitted.file, [*decorator.args, *(word.value for word in decorator.keywords)]):
                if isinstance(node, ast.Dict):
                    names.update((str(key.value), None) for key in node.keys if isinstance(key, ast.Constant))
    return tuple(names)


def configurations_of(jitted: Jitted) -> tuple[tuple[str, ...], dict[str, list[Value]]]:
    """The autotune configurations as the source writes them, and the values that they state for parameters."""
    texts: dict[str, None] = {}
    values: dict[str, list[Value]] = {}
    names = {argument.arg for argument in jitted.arguments}
    for decorator in jitted.decorators:
        if not isinstance(decorator, ast.Call) or "autotune" not in (dotted(decorator.func) or "").lower():
            continue
        for node in _with_globals(jitted.file, [*decorator.args, *(word.value for word in decorator.keywords)]):
            if not isinstance(node, ast.Call) or not (dotted(node.func) or "").endswith("Config"):
                continue
            texts[" ".join(ast.unparse(node).split())] = None
            for inner in ast.walk(node):
                if isinstance(inner, ast.Dict):
                    for key, value in zip(inner.keys, inner.values, strict=True):
                        if isinstance(key, ast.Constant) and key.value in names:
                            constant, known = literal(value)
                            stated = values.setdefault(key.value, [])
                            if known:
                                stated.append(Value(constant, Basis.CONFIG, f"configuration in line {node.lineno}"))
    return tuple(texts), values


def _with_globals(file: ProjectFile, nodes: Iterable[ast.expr]) -> list[ast.AST]:
    """All nodes of expressions, and those of the definitions in the file that they name."""
    result: list[ast.AST] = []
    waiting: list[ast.AST] = list(nodes)
    seen: set[str] = set()
    while waiting:
        node = waiting.pop()
        for each in ast.walk(node):
            result.append(each)
            if isinstance(each, ast.Name) and each.id in file.definitions and each.id not in seen:
                seen.add(each.id)
                for definition in file.definitions[each.id]:
                    waiting.append(definition if isinstance(definition, ast.AST) else definition.node)
    return result
