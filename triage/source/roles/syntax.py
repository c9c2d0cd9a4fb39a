"""Questions to the syntax of a kernel that need no values."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from triage.source.module import called
from triage.source.roles.symbols import Symbolic


def assigned_in(body: Sequence[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """The statements of a loop that give each variable a value, those of inner blocks too."""
    result: dict[str, list[ast.stmt]] = {}
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=targets):
                    for target in targets:
                        for child in ast.walk(target):
                            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                                result.setdefault(child.id, []).append(node)
                case ast.AugAssign(target=ast.Name(id=variable)):
                    result.setdefault(variable, []).append(node)
                case ast.For(target=ast.Name(id=variable)):
                    result.setdefault(variable, []).append(node)
    return result


def advance_of(variable: str, statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """How a statement advances a variable: by what is added, or by which offsets; None where it does something else."""
    match statement:
        case ast.AugAssign(op=ast.Add() | ast.Sub(), value=value):
            return "add", value
        case ast.Assign(
            targets=[ast.Name()], value=ast.BinOp(left=ast.Name(id=left), op=ast.Add() | ast.Sub(), right=r)
        ):
            return ("add", r) if left == variable else None
        case ast.Assign(targets=[ast.Name()], value=ast.Call(args=[ast.Name(id=left), offsets]) as call):
            return ("advance", offsets) if left == variable and called(call) == "advance" else None
    return None


def reads(statement: ast.stmt, variable: str) -> bool:
    return isinstance(statement, ast.AugAssign) or variable in words_in(getattr(statement, "value", statement))


def words_in(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def is_language(node: ast.expr) -> bool:
    """``tl``, ``gl``, ``tl.extra.cuda``: a module by its usual name."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in (
        "tl", "gl", "ttgl", "triton", "language", "libdevice", "tldevice", "tma", "async_copy", "math", "core",
        "hopper", "blackwell", "ampere", "mbarrier", "cdna3", "cdna4", "gfx1250", "experimental",
    )  # fmt: skip


def is_module(node: ast.expr, env: Mapping[str, Symbolic]) -> bool:
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id not in env


def literal_integer(node: ast.expr | None) -> int | None:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
            return -number
    return None


def entries(node: ast.expr) -> list[ast.expr]:
    """The entries of a list, or the node itself: what an argument of ``warp_specialize`` may be."""
    return list(node.elts) if isinstance(node, ast.List) else [node]
