"""Python values as source text for a kernel's module."""

import dataclasses
import enum
import math
import sys
from typing import Any, Callable, Optional, Tuple

_DEEPEST = 20


class NoText(Exception):
    """The value cannot be written as source."""


def is_jitted(value: Any) -> bool:
    """Whether it is a kernel or helper: Triton's JITFunction, or Gluon's subclass of it."""
    return any(base.__name__ == "JITFunction" for base in type(value).__mro__)


COMPILERS = ("triton", "cutlass")
"""Packages that a kernel's module imports, and never copies from."""


def is_compilers(module: Optional[str]) -> bool:
    """Whether a module of that name belongs to a compiler."""
    return module is not None and module.partition(".")[0] in COMPILERS


def unwrapped(value: Any) -> Any:
    """The value inside a ``tl.constexpr``."""
    while type(value).__name__ == "constexpr" and is_compilers(type(value).__module__):
        value = value.value
    return value


def is_constexpr(value: Any) -> bool:
    """Whether it is a ``tl.constexpr``."""
    return unwrapped(value) is not value


def is_code(value: Any) -> bool:
    """Whether it is a function, class or kernel; constexprs and dtypes are callable too but are not."""
    return isinstance(value, type) or (not is_constexpr(value) and callable(value) and hasattr(value, "__name__"))


def expression(value: Any, name: Callable[[Any], str], depth: int = 0) -> str:
    """The value as an expression. ``name`` returns the text that names a function, class or module. Raises NoText."""
    if depth > _DEEPEST:
        raise NoText("nested too deep")

    def inner(item: Any) -> str:
        return expression(item, name, depth + 1)

    kind = type(value)
    if is_constexpr(value):
        return "%s(%s)" % (name(kind), inner(unwrapped(value)))
    if value is None or value is Ellipsis or kind in (bool, int, str, bytes):
        return repr(value)
    if kind is float:
        return repr(value) if math.isfinite(value) else 'float("%r")' % value
    if kind is list:
        return "[%s]" % ", ".join(map(inner, value))
    if kind is tuple:
        return "(%s)" % (", ".join(map(inner, value)) + ("," if len(value) == 1 else ""))
    if kind in (set, frozenset):
        return "%s([%s])" % (kind.__name__, ", ".join(sorted(map(inner, value))))
    if kind is dict:
        return "{%s}" % ", ".join("%s: %s" % (inner(key), inner(item)) for key, item in value.items())
    if isinstance(value, enum.Enum):
        return "%s.%s" % (name(kind), value.name)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return "%s(%s)" % (name(kind), ", ".join(map(inner, value)))
    if is_code(value):
        return name(value)
    if kind.__name__ == "dtype" and is_compilers(kind.__module__):
        return "%s.%s" % (name(sys.modules[LANGUAGES["tl"]]), _dtype(value))
    if kind.__name__ == "dtype" and kind.__module__ == "torch":
        return "%s.%s" % (name(sys.modules["torch"]), str(value).rpartition(".")[2])
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if not _is_default(value, field)]
        return "%s(%s)" % (name(kind), ", ".join("%s=%s" % (field, inner(getattr(value, field))) for field in fields))
    if callable(getattr(value, "item", None)):  # a scalar of numpy or torch
        try:
            return inner(value.item())
        except (ValueError, RuntimeError):  # it has more elements
            pass
    raise NoText("a %s.%s cannot be written down" % (kind.__module__, kind.__qualname__))


def _is_default(value: Any, field: Any) -> bool:
    """Whether a field has its default and can be left out: other releases may not have it."""
    if not field.init:
        return True
    if field.default_factory is not dataclasses.MISSING:
        return bool(getattr(value, field.name) == field.default_factory())
    return field.default is not dataclasses.MISSING and getattr(value, field.name) is field.default


def _dtype(value: Any) -> str:
    """The attribute of ``triton.language`` that is this dtype."""
    language = sys.modules["triton.language"]
    for spelling in (str(getattr(value, "name", "")), str(value)):
        for attribute, candidate in vars(language).items():
            if type(candidate) is type(value) and (
                getattr(candidate, "name", None) == spelling or str(candidate) == spelling
            ):
                return attribute
    raise NoText("the type %s has no name in triton.language" % (value,))


LANGUAGES = {
    "tl": "triton.language", "gl": "triton.experimental.gluon.language", "cutlass": "cutlass", "cute": "cutlass.cute",
}  # fmt: skip
"""The prefixes under which cases and most kernels import them."""


def in_json(value: Any) -> Any:
    """A constexpr in a case: a JSON value, or the text of a Triton object. Raises NoText."""
    value = unwrapped(value)
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int and -(1 << 63) <= value < 1 << 64:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if type(value) in (tuple, list):
        return [in_json(item) for item in value]
    if type(value).__name__ == "dtype" and is_compilers(type(value).__module__):
        return "tl.%s" % _dtype(value)
    if is_compilers(type(value).__module__) and dataclasses.is_dataclass(value):
        return expression(value, _named)
    if isinstance(value, type) and value.__module__.partition(".")[0] == "cutlass":
        return _named(value)
    if isinstance(value, enum.Enum) and is_compilers(type(value).__module__):
        return "%s.%s" % (_named(type(value)), value.name)
    raise NoText("a %s cannot be a value in a case" % type(value).__qualname__)


def _named(value: Any) -> str:
    exported = public(value)
    if exported is None:
        raise NoText("%r has no public name" % (value,))
    return ".".join(exported)


def public(value: Any) -> Optional[Tuple[str, str]]:
    """The usual prefix (``tl``, ``gl``) and path of an object that Triton's languages export; None if not exported."""
    for prefix, module in LANGUAGES.items():
        path = _path(value, sys.modules.get(module))
        if path:
            return prefix, path
    return None


def _path(value: Any, module: Any) -> str:
    name = getattr(value, "__name__", "")
    if module is None or not name:
        return ""
    if getattr(module, name, None) is value:
        return str(name)
    # Classes of one architecture are in a module below: gl.nvidia.blackwell.TensorMemoryLayout.
    below = str(getattr(value, "__module__", ""))
    if below.startswith(module.__name__ + "."):
        names = below[len(module.__name__) + 1 :].split(".")
        while names:
            holder = sys.modules.get(".".join([module.__name__, *names]))
            if getattr(holder, name, None) is value and not any(part.startswith("_") for part in names):
                return ".".join([*names, name])
            names.pop()
    return ""
