"""A host function's own module: the function, or the class whose method it is, with everything it reaches."""

import ast
import inspect
import linecache
import textwrap
from types import CodeType, FunctionType
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from .. import values
from ..module import KernelModule
from ..names import Text

_CALL = "__call__"
_trees: Dict[str, Tuple[List[str], ast.Module]] = {}
"""Parsed files by name, each with its lines."""


class Kernel(NamedTuple):
    """What a case names: a function or class of the module, and the arguments of its constructor."""

    name: str
    construct: Dict[str, Any]


class CuteModule(KernelModule):
    """The file being built. ``defaults``: values of the host function's parameters that JSON cannot hold."""

    reads_annotations = True

    def __init__(self, host: Any, defaults: Dict[str, Any]) -> None:
        KernelModule.__init__(self)
        self._host, self._defaults = host, defaults

    def kernel(self, instance: Any = None) -> Kernel:
        """Add the host function; with ``instance``, whose method it is, its class, which is constructed with what gave
        that instance. Raises as :meth:`define` does."""
        if instance is None:
            return Kernel(self.define(self._host), {})
        kind = type(instance)
        name = self.define(kind)
        construct = _construct(instance, self.source(kind)) if self._host.__name__ == _CALL else None
        if construct is not None:
            return Kernel(name, construct)
        return Kernel(self._constructed(instance, name), {})

    def _constructed(self, instance: Any, name: str) -> str:
        """A class whose instances are what this one is: its constructor sets the attributes."""
        own = self._free("%sAsConstructed" % name, ("instance", id(instance)))
        traced, attributes = self._set_by_methods(type(instance)), []
        for attribute, value in vars(instance).items():
            try:
                attributes.append("        self.%s = %s" % (attribute, values.expression(value, self._in_expression)))
            except values.NoText:
                if attribute not in traced:
                    raise
        lines = ["class %s(%s):" % (own, name), "    def __init__(self):", *(attributes or ["        pass"])]
        method = self._host.__name__
        lines += [] if method == _CALL else ["", "    %s = %s.%s" % (_CALL, name, method)]
        self._definitions.append("\n" + "\n".join(lines) + "\n")
        return own

    def _set_by_methods(self, kind: Any) -> Set[str]:
        """Attributes that methods set when they run: an earlier compile of the same object has left values there, which
        this one sets anew."""
        stores: Set[str] = set()
        for holder in kind.__mro__:
            if not values.is_compilers(holder.__module__) and holder.__module__ != "builtins":
                tree: Any = ast.parse(self.source(holder)).body[0]
                stores.update(*(_stores(node) for node in tree.body if getattr(node, "name", "") != "__init__"))
        return stores

    def source(self, function: Any) -> str:
        """See the base class. The DSL replaces the code of what it traces, so that Python no longer finds the text of a
        function by its code alone. What is the host function gets its defaults."""
        if isinstance(function, type):
            text = textwrap.dedent(inspect.getsource(function))
            host = vars(function).get(self._host.__name__)
            is_host = inspect.unwrap(host) is self._host if callable(host) else False
        else:
            text, is_host = _source(function), function is self._host
        return self._with_defaults(text) if is_host and self._defaults else text

    def _with_defaults(self, source: str) -> str:
        text = Text(source)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and node.name == self._host.__name__:
                named = {name: values.expression(value, self._in_expression) for name, value in self._defaults.items()}
                text.set_defaults(node, named)
                break
        return text.result()


def _source(function: FunctionType) -> str:
    code = getattr(function, "_original_code", function.__code__)
    file = code.co_filename
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        raise OSError("%s has no source: %s" % (function.__qualname__, file))
    if file not in _trees or _trees[file][0] is not lines:
        _trees[file] = lines, ast.parse("".join(lines))
    kind: Any = ast.Lambda if function.__name__ == "<lambda>" else ast.FunctionDef
    matching = [
        node
        for node in ast.walk(_trees[file][1])
        if isinstance(node, kind)
        and getattr(node, "name", "<lambda>") == function.__name__
        and _first(node) <= code.co_firstlineno <= _last(node)
    ]
    if kind is ast.Lambda and len(matching) > 1:
        matching = [node for node in matching if _is_compiled_to(node, code)]
    if not matching or (kind is ast.Lambda and len(matching) > 1):
        raise OSError("%s is not in %s any more, or not alone on its line" % (function.__qualname__, file))
    if kind is ast.Lambda:
        text = Text("".join(lines))
        start, end = text.span(matching[0])
        return "value = (%s)\n" % text.bytes[start:end].decode("utf-8")
    innermost = max(matching, key=_first)
    return textwrap.dedent("".join(lines[_first(innermost) - 1 : _last(innermost)]))


def _is_compiled_to(node: Any, code: CodeType) -> bool:
    """Whether this lambda's code is that, where neither has a closure."""
    compiled = compile(ast.Expression(node), code.co_filename, "eval").co_consts[0]
    return all(getattr(compiled, name) == getattr(code, name) for name in ("co_code", "co_consts", "co_names"))


def _first(node: Any) -> int:
    return min([int(node.lineno), *(int(part.lineno) for part in getattr(node, "decorator_list", ()))])


def _last(node: Any) -> int:
    return int(node.end_lineno)


def _construct(instance: Any, source: str) -> Optional[Dict[str, Any]]:
    """The arguments that constructed an instance, where its class keeps each in an attribute that is set once, and
    nothing else decides about it; None otherwise."""
    tree: Any = ast.parse(source).body[0]
    methods = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    if tree.bases or "__init__" not in methods or "__new__" in methods:
        return None
    head, stores = methods["__init__"].args, _stores(tree)
    if head.vararg or head.kwarg or head.posonlyargs or not set(vars(instance)) <= set(stores):
        return None
    assigned = {
        node.value.id: node.targets[0].attr
        for node in methods["__init__"].body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Name)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Attribute)
    }
    arguments = {}
    for parameter in [*head.args[1:], *head.kwonlyargs]:
        attribute = assigned.get(parameter.arg, "")
        if stores.get(attribute) != 1 or attribute not in vars(instance):
            return None
        try:
            arguments[parameter.arg] = exact(vars(instance)[attribute])
        except values.NoText:
            return None
    return arguments


def _stores(tree: ast.AST) -> Dict[str, int]:
    """How often each attribute of something is assigned."""
    stores: Dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            stores[node.attr] = stores.get(node.attr, 0) + 1
    return stores


def exact(value: Any) -> Any:
    """A value in JSON from which a worker makes the same again: it makes tuples of lists. Raises values.NoText."""
    if _has_list(value):
        raise values.NoText("a list")
    return values.in_json(value)


def _has_list(value: Any) -> bool:
    return isinstance(value, list) or (isinstance(value, tuple) and any(map(_has_list, value)))
