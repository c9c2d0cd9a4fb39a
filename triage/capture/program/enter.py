"""Run a function within a context manager without adding a frame to tracebacks.

The function keeps its identity and gets a new body: the old one, at its old lines and columns, inside a ``with`` or
``try`` statement."""

from __future__ import annotations
import __future__

import ast
import inspect
import linecache
from types import CodeType, FunctionType
from typing import Any, Callable, Iterator, List, Optional

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


class CannotEnter(Exception):
    """The function's source is unavailable, or does not match the compiled function."""


def enter(function: FunctionType, context: Callable[[], Any]) -> None:
    """From now on ``function`` runs within ``context()``, which is called in the function's frame. Raises
    CannotEnter."""
    name = "_triton_triage_%s" % context.__name__

    def within(body: List[ast.stmt]) -> ast.stmt:
        return ast.With(items=[ast.withitem(context_expr=_call(name), optional_vars=None)], body=body)

    code = _around(function, within)
    function.__globals__[name] = context
    function.__code__ = code


def overhear(function: FunctionType, failed: Callable[[], None]) -> None:
    """From now on ``failed`` is called in the function's frame when the function raises. Raises CannotEnter."""
    name = "_triton_triage_%s" % failed.__name__

    def with_handler(body: List[ast.stmt]) -> ast.stmt:
        handling: List[ast.stmt] = [ast.Expr(value=_call(name)), ast.Raise(exc=None, cause=None)]
        handler = ast.ExceptHandler(type=ast.Name(id="Exception", ctx=ast.Load()), name=None, body=handling)
        return ast.Try(body=body, handlers=[handler], orelse=[], finalbody=[])

    code = _around(function, with_handler)
    function.__globals__[name] = failed
    function.__code__ = code


def _call(name: str) -> ast.expr:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=[], keywords=[])


def _around(function: FunctionType, put: Callable[[List[ast.stmt]], ast.stmt]) -> CodeType:
    old = function.__code__
    lines = linecache.getlines(old.co_filename, function.__globals__)
    if not lines or old.co_freevars:
        raise CannotEnter("%s: no source, or a closure" % function.__qualname__)
    first = old.co_firstlineno
    block = inspect.getblock(lines[first - 1 :])
    # Below the headers of its classes, on the lines above: the same names, lines and columns as in the file.
    classes = function.__qualname__.split(".")[:-1]
    if len(classes) > 1 or (classes and first < 2):
        raise CannotEnter("%s: defined too deep" % function.__qualname__)
    head = "\n" * (first - 1 - len(classes)) + "".join("class %s:\n" % holder for holder in classes)
    try:
        tree = ast.parse(head + "".join(block))
    except SyntaxError as error:
        raise CannotEnter("%s: %s" % (function.__qualname__, error)) from None
    matching = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function.__name__]
    if not matching:
        raise CannotEnter("%s: not at its line" % function.__qualname__)
    node = matching[0]
    inside = put(node.body)
    ast.copy_location(inside, node)
    node.body = [ast.fix_missing_locations(inside)]
    module = compile(tree, old.co_filename, "exec", flags=old.co_flags & _FUTURE, dont_inherit=True)
    new = _find(module, function.__name__)
    if new is None or new.co_varnames[: old.co_argcount] != old.co_varnames[: old.co_argcount] or new.co_freevars:
        raise CannotEnter("%s: its source is another function's" % function.__qualname__)
    return new


def _find(code: CodeType, name: str) -> Optional[CodeType]:
    for code_ in _codes(code):
        if code_.co_name == name:
            return code_
    return None


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
