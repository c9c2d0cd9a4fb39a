"""JSON values to Triton objects: ``tl.float32``, ``gl.NVMMASharedLayout(128, 16, 2)``. Parsed, never evaluated.

Only names inside ``triton`` are reachable, only types and their class methods are called, only with literals.
"""

import ast
import importlib
import re
from types import ModuleType
from typing import Any, Tuple

_ROOTS = {
    "tl": "triton.language",
    "triton": "triton",
    "gl": "triton.experimental.gluon.language",
    "ttgl": "triton.experimental.gluon.language",
    "gluon": "triton.experimental.gluon",
}
_TRITON_TEXT = re.compile(r"(?:%s)(?:\.[A-Za-z_][A-Za-z0-9_]*)+(?:\(.*\))?\Z" % "|".join(_ROOTS), re.DOTALL)


class BadValue(Exception):
    """The text looks like a Triton object but does not name one."""


def decode(value: Any) -> Any:
    """A JSON value as the kernel gets it. Lists become tuples, as Triton passes them. Raises BadValue."""
    if isinstance(value, list):
        return tuple(decode(item) for item in value)
    if isinstance(value, str) and _TRITON_TEXT.match(value):
        try:
            node = ast.parse(value, mode="eval").body
        except SyntaxError as error:
            raise BadValue("%r: %s" % (value, error)) from None
        return _build(node, value)
    return value


def _build(node: ast.AST, text: str) -> Any:
    if isinstance(node, (ast.Attribute, ast.Name)):
        return _resolve(node, text)[0]
    if isinstance(node, ast.Call):
        function, holder = _resolve(node.func, text)
        if not (_is_tritons_class(function) or _is_tritons_class(holder)):
            raise BadValue("%r: only layouts and types can be constructed" % text)
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise BadValue("%r: ** is not a literal" % text)
            keywords[keyword.arg] = _build(keyword.value, text)
        return function(*[_build(argument, text) for argument in node.args], **keywords)
    if isinstance(node, ast.List):
        return [_build(item, text) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_build(item, text) for item in node.elts)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise BadValue("%r: arguments must be literals" % text) from None


def _resolve(node: ast.AST, text: str) -> Tuple[Any, Any]:
    """The object of a dotted name, and the module or class that has its last part."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in _ROOTS:
        raise BadValue("%r: names must start with one of %s" % (text, ", ".join(sorted(_ROOTS))))
    path = _ROOTS[node.id]
    try:
        value: Any = importlib.import_module(path)
    except ImportError:
        raise BadValue("%r: this Triton has no %s" % (text, path)) from None
    holder: Any = None
    for name in reversed(names):
        path += "." + name
        if name.startswith("_"):
            raise BadValue("%r: private names are not reachable" % text)
        if not isinstance(value, (ModuleType, type)):
            # An attribute of an object may be a property, which is code that runs.
            raise BadValue("%r: only names in modules and classes are reachable" % text)
        holder = value
        if not hasattr(value, name):
            try:
                value = importlib.import_module(path)
                continue
            except ImportError:
                raise BadValue("%r: this Triton has no %s" % (text, path)) from None
        value = getattr(value, name)
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] != "triton":
            raise BadValue("%r: %s is not a part of Triton" % (text, value.__name__))
    return value, holder


def _is_tritons_class(value: Any) -> bool:
    """A layout or type, or the holder of one's class methods."""
    return isinstance(value, type) and value.__module__.split(".")[0] == "triton"
