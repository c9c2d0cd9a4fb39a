"""Names that are read where nothing can have given them a value: the commonest way for a candidate to be worthless."""

from __future__ import annotations

import ast
import builtins

_BUILTINS = frozenset(dir(builtins)) | {"__file__", "__name__"}


def bound(node: ast.AST) -> set[str]:
    """Names that a statement, all that is in it included, gives a value."""
    found: set[str] = set()
    for child in ast.walk(node):
        match child:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in names}
            case ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.arg(arg=name):
                found.add(name)
    return found


def undefined(tree: ast.Module) -> set[str]:
    """Names read before any statement above them can have bound them. Globals may be bound anywhere in the file; a
    star import may bind anything."""
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return set()
    everywhere: set[str] = set(_BUILTINS)
    for statement in tree.body:
        everywhere |= _top(statement)
    missing: set[str] = set()
    _block(tree.body, set(everywhere), everywhere, missing)
    return missing


def _top(statement: ast.stmt) -> set[str]:
    """What a statement binds in its own scope."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    return bound(statement)


def _block(block: list[ast.stmt], known: set[str], everywhere: set[str], missing: set[str]) -> None:
    for statement in block:
        _statement(statement, known, everywhere, missing)


def _statement(node: ast.stmt, known: set[str], everywhere: set[str], missing: set[str]) -> None:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for outside in [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            _reads(outside, known, missing)
        for child in ast.walk(node.args):
            if isinstance(child, ast.arg) and child.annotation is not None:
                _reads(child.annotation, known, missing)
        known.add(node.name)
        inner = set(everywhere) | known | {child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg)}
        local = {name for statement in node.body for name in _top(statement)}
        declared = {name for child in ast.walk(node) if isinstance(child, ast.Global) for name in child.names}
        arguments = {child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg)}
        _block(node.body, inner - (local - declared - arguments), everywhere, missing)
        return
    if isinstance(node, ast.ClassDef):
        known |= {node.name}
        return
    if isinstance(node, ast.AugAssign):
        for child in ast.walk(node.target):
            if isinstance(child, ast.Name) and child.id not in known:
                missing.add(child.id)
    blocks = [getattr(node, name, []) for name in ("body", "orelse", "finalbody", "handlers")]
    if any(blocks):
        for name, value in ast.iter_fields(node):
            if name in ("body", "orelse", "finalbody", "handlers"):
                continue
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, ast.AST):
                    _reads(item, known, missing)
                    known |= bound(item)
        for block in blocks:
            for inner_node in block:
                if isinstance(inner_node, ast.ExceptHandler):
                    known |= bound(inner_node)
                    _block(inner_node.body, known, everywhere, missing)
                else:
                    _statement(inner_node, known, everywhere, missing)
        return
    _reads(node, known, missing)
    known |= bound(node)


def _reads(node: ast.AST, known: set[str], missing: set[str]) -> None:
    inside: set[str] = set()
    for child in ast.walk(node):
        if isinstance(child, ast.comprehension | ast.Lambda | ast.NamedExpr):
            inside |= bound(child)
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and child.id not in known | inside:
            missing.add(child.id)
