"""Run a function within a context manager without adding a frame to tracebacks.

The function keeps its identity and gets a new body: the old one, at its old lines and columns, inside a ``with`` or
``try`` statement."""

import __future__

import ast
import inspect
import linecache
from types import CodeType, FunctionType
from typing import Any, Callable, Iterator

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


class CannotEnter(Exception):
    """The function's source is unavailable, or does not match the compiled function."""


def enter(function: FunctionType, context: Callable[[], Any]) -> None:
    """From now on ``function`` runs within ``context()``, which is called in the function's frame. Raises
    CannotEnter."""
    _wrap(function, context, "with %s():\n    pass")


def overhear(function: FunctionType, failed: Callable[[], None]) -> None:
    """From now on ``failed`` is called in the function's frame when the function raises. Raises CannotEnter."""
    _wrap(function, failed, "try:\n    pass\nexcept Exception:\n    %s()\n    raise")


def _wrap(function: FunctionType, called: Callable[[], Any], template: str) -> None:
    """Put the function's body into the template's statement, which is at the function's line."""
    old = function.__code__
    lines = linecache.getlines(old.co_filename, function.__globals__)
    if not lines or old.co_freevars:
        raise CannotEnter("%s: no source, or a closure" % function.__qualname__)
    first = old.co_firstlineno
    block = inspect.getblock(lines[first - 1 :])
    # Headers of its classes on the lines above give the same names, lines and columns as in the file.
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
    name = "_triton_triage_%s" % called.__name__
    statement: Any = ast.parse(template % name).body[0]
    for part in ast.walk(statement):
        ast.copy_location(part, node)
    node.body, statement.body = [statement], node.body
    module = compile(tree, old.co_filename, "exec", flags=old.co_flags & _FUTURE, dont_inherit=True)
    new = next((code for code in _codes(module) if code.co_name == function.__name__), None)
    if new is None or new.co_varnames[: old.co_argcount] != old.co_varnames[: old.co_argcount] or new.co_freevars:
        raise CannotEnter("%s: its source is another function's" % function.__qualname__)
    function.__globals__[name] = called
    function.__code__ = new


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
