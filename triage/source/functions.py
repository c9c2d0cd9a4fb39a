"""Queries of function definitions: parameters, defaults, decorators, the nodes of a body."""

import ast
import re
from collections.abc import Iterator

_JIT = re.compile(r"(?:^|\.)jit$|(?:^|\.)cute\.kernel$|^constexpr_function$")


def parameters(function: ast.FunctionDef) -> list[ast.arg]:
    """All named parameters."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def defaults(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default value, each with that value."""
    positional = [*function.args.posonlyargs, *function.args.args]
    keyword_only = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [
        *zip(positional[len(positional) - len(function.args.defaults) :], function.args.defaults, strict=True),
        *((parameter, default) for parameter, default in keyword_only if default is not None),
    ]


def is_jitted(function: ast.FunctionDef) -> bool:
    """Whether it is decorated with ``triton.jit``, ``gluon.jit``, ``cute.jit``, ``cute.kernel`` or the like."""
    return any(
        _JIT.search(ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator))
        for decorator in function.decorator_list
    )


def body_nodes(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Every node of the body with its parent, breadth first."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(function, statement) for statement in function.body]
    while waiting:
        parent, node = waiting.pop(0)
        yield parent, node
        waiting += [(node, child) for child in ast.iter_child_nodes(node)]


def stored_names(function: ast.FunctionDef) -> list[ast.Name]:
    """Every name that the function assigns to, as often as it does, in no particular order."""
    return [node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
