"""JSON values to a compiler's objects and back: ``tl.float32``, ``gl.NVMMASharedLayout(128, 16, 2)``,
``cutlass.Float16``. Parsed, never evaluated.

Only names inside ``triton``, ``cutlass`` and ``operator``, whose functions kernels of CuTe DSL take, are reachable;
only types and their class methods are called, only with literals.
"""

import ast
import dataclasses
import importlib
import math
import re
from types import ModuleType
from typing import Any, Tuple

_ROOTS = {
    "tl": "triton.language",
    "triton": "triton",
    "gl": "triton.experimental.gluon.language",
    "ttgl": "triton.experimental.gluon.language",
    "gluon": "triton.experimental.gluon",
    "cutlass": "cutlass",
    "cute": "cutlass.cute",
    "operator": "operator",
}
_TITLES = {"triton": "Triton", "cutlass": "CuTe DSL"}
"""Of the packages that have the objects."""
_TRITON_TEXT = re.compile(r"(?:%s)(?:\.[A-Za-z_][A-Za-z0-9_]*)+(?:\(.*\))?\Z" % "|".join(_ROOTS), re.DOTALL)
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
_MOST_TEXT = 100
"""Characters of a text in an error."""


class BadValue(Exception):
    """The text looks like an object of the compiler but does not name one; or an object has no such text. ``lacking``:
    this release has no such object, which is how a case fails here."""

    def __init__(self, text: str, lacking: bool = False) -> None:
        super().__init__(text)
        self.lacking = lacking


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


def encode(value: Any) -> Any:
    """What :func:`decode` makes the value of. Raises BadValue."""
    while type(value).__name__ == "constexpr" and _is_tritons_class(type(value)):
        value = value.value
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return [encode(item) for item in value]
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()
    if type(value) is int and not _LEAST <= value <= _MOST:
        raise BadValue("%d does not fit into 64 bits" % value)
    if type(value) is float and not math.isfinite(value):
        raise BadValue("%r is not a number of JSON" % value)
    if value is None or type(value) in (bool, int, float):
        return value
    text = value if type(value) is str else _text(value)
    decoded = decode(text)
    if type(decoded) is not type(value) or decoded != value:
        raise BadValue("%r cannot be a value of a case" % text[:_MOST_TEXT])
    return text


def _text(value: Any) -> str:
    """A type or a layout of Triton as an expression."""
    kind: Any = type(value)
    if _is_tritons_class(kind) and kind.__name__ == "dtype":
        for name, exported in vars(importlib.import_module(_ROOTS["tl"])).items():
            if type(exported) is kind and exported == value:
                return "tl." + name
    if _is_tritons_class(kind) and dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return "%s(%s)" % (_exported(kind), ", ".join("%s=%s" % (f, _item(getattr(value, f))) for f in fields))
    raise BadValue("a %s cannot be a value of a case" % kind.__qualname__)


def _item(value: Any) -> str:
    """An argument in the text of a layout."""
    if isinstance(value, (list, tuple)):
        items = [_item(item) for item in value]
        return "[%s]" % ", ".join(items) if isinstance(value, list) else "(%s)" % "".join(i + ", " for i in items)
    encoded = encode(value)
    return encoded if isinstance(encoded, str) and type(value) is not str else repr(encoded)


def _exported(kind: Any) -> str:
    """The name under which Gluon exports a class; those of one architecture are in a module below its language."""
    name, below = kind.__name__, kind.__module__.split(".")
    for path in (_ROOTS["gl"].split("."), below, below[:-1]):
        try:
            holder = importlib.import_module(".".join(path))
        except ImportError:
            continue
        if vars(holder).get(name) is kind and not any(part.startswith("_") for part in path):
            return ".".join([*path, name]).replace(_ROOTS["gl"], "gl")
    raise BadValue("a %s has no public name" % kind.__qualname__)


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
        raise _lacking(text, path) from None
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
                raise _lacking(text, path) from None
        value = getattr(value, name)
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] not in _TITLES:
            raise BadValue("%r: %s is not a part of the compiler" % (text, value.__name__))
    return value, holder


def _lacking(text: str, path: str) -> BadValue:
    title = _TITLES.get(path.partition(".")[0], "Triton")
    return BadValue("%r: this %s has no %s" % (text, title, path), lacking=True)


def _is_tritons_class(value: Any) -> bool:
    """A layout or type, or the holder of one's class methods."""
    return isinstance(value, type) and value.__module__.split(".")[0] in _TITLES
