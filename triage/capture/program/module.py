"""Builds a kernel's own module: the kernel and its dependencies in one file that needs only Triton.

Functions keep the text that they have in the program. What they read from elsewhere (helpers, constants, modules) is
defined or imported above them, under the same name if that is free, else under another that their text is adapted to;
``lib.helper`` becomes ``helper``."""

import ast
import builtins
import inspect
import re
import sys
import textwrap
from types import FunctionType, ModuleType
from typing import Any, Dict, List, Optional, Set

from . import names, values
from .names import NameRead, Text, reads
from .tuples import Split

_MOST_DEFINITIONS = 400
_FUTURE_ANNOTATIONS = 0x1000000
"""``CO_FUTURE_ANNOTATIONS`` of Python 3.8 and later: annotations are text."""
_ABSENT = object()
_USUAL = {module: prefix for prefix, module in values.LANGUAGES.items()}
_HOST = frozenset({"torch", "numpy", "jax", "scipy", "cuda"})
"""Host libraries, imported where a kernel's compile-time functions read them, like the standard library."""


class KernelModule:
    """The file being built. ``notes``: what could not be included; ``jitted``: its jitted functions by name.

    ``reads_annotations``: the compiler evaluates those of functions, whatever they name."""

    reads_annotations = False

    def __init__(self) -> None:
        self.notes: List[str] = []
        self.jitted: Dict[str, Any] = {}
        self._imports: List[str] = []
        self._definitions: List[str] = []
        self._bound: Dict[str, Any] = {}
        self._named: Dict[Any, str] = {}
        self._referents: List[Any] = []
        self._future = False

    def text(self) -> str:
        """The whole file."""
        head = ["from __future__ import annotations\n"] if self._future else []
        return "\n".join([*head, *sorted(set(self._imports)), "", *self._definitions]).rstrip("\n") + "\n"

    def define(
        self, function: Any, bound: Optional[Dict[str, Any]] = None, split: Optional[Dict[str, Split]] = None
    ) -> str:
        """Add a function and return its name in the file. Raises NoText, OSError, TypeError and SyntaxError.

        ``bound``: arguments that become constants of the module; ``split``: arguments that become several."""
        key = ("object", id(function))
        if key in self._named:
            return self._named[key]
        if len(self._definitions) > _MOST_DEFINITIONS:
            raise values.NoText("more than %d definitions" % _MOST_DEFINITIONS)
        self._referents.append(function)  # alive, so that no other object gets its id
        source = self.source(function)
        classes: Dict[str, Any] = {}
        if bound or split:
            source = self._with_other_head(source, bound or {}, split or {}, classes)
        tree = ast.parse(source)
        node = tree.body[0]
        own_name = str(getattr(node, "name", "value"))
        name = self._named[key] = self._free(own_name, key)
        if values.is_jitted(function):
            self.jitted[name] = function
        decorator = self._decorator(function)
        text = Text(source)
        if name != own_name:
            # A lambda's source is an assignment.
            first = re.compile(rb"(?:\A|\b(?:def|class)\s+)(%s)\b" % own_name.encode()).search(text.bytes)
            if first:
                text.replace(first.start(1), first.end(1), name)
        code = getattr(python(function), "__code__", None)
        self._future = self._future or (code is not None and bool(code.co_flags & _FUTURE_ANNOTATIONS))
        scope = {**_scope(function), **(bound or {}), **classes}
        own = set(names.bound(node))
        for read in reads(node):
            if read.parts[0] != own_name or scope.get(own_name, function) is not function:
                self._resolve(read, scope, text, own)
            elif name != own_name:
                text.replace(*text.span(read.nodes[0]), name)
        self._definitions.append("\n" + decorator + text.result().rstrip() + "\n")
        return name

    def source(self, function: Any) -> str:
        """The source of a function or class, not indented. Raises OSError, TypeError and NoText."""
        if values.is_jitted(function):
            return str(function.src)
        return textwrap.dedent(inspect.getsource(python(function)))

    def _with_other_head(
        self, source: str, bound: Dict[str, Any], split: Dict[str, Split], classes: Dict[str, Any]
    ) -> str:
        """A kernel's source with other parameters; ``classes`` receives the classes that its first lines then read."""

        def class_name(kind: Any) -> str:
            name = self.name(kind)
            classes[name] = kind
            return name

        text = Text(source)
        node: Any = ast.parse(source).body[0]  # a kernel's source is one function
        for name in bound:
            if not any(name in parts.names for parts in split.values()):
                text.without_parameter(node, name)
        for name, parts in split.items():
            remaining = [part for part in parts.names if part not in bound]
            text.split_parameter(node, name, remaining, "%s = %s" % (name, parts.expression(class_name)))
        return text.result()

    def _decorator(self, function: Any) -> str:
        """The decorator to write: a kernel's source starts at its ``def``, and what tuned or wrapped it has already
        run."""
        if not values.is_jitted(function):
            return ""
        package = "triton.experimental.gluon" if is_gluon(function) else "triton"
        options = ["noinline=True"] if getattr(function, "noinline", False) else []
        # Of other parameters the case tells what they are specialized for; of these, since 3.6, it is an error.
        for option in ("do_not_specialize", "do_not_specialize_on_alignment"):
            listed = [each.name for each in function.params if each.is_constexpr and getattr(each, option, False)]
            options += ["%s=%r" % (option, listed)] if listed else []
        called = "(%s)" % ", ".join(options) if options else ""
        return "@%s.jit%s\n" % (self.name(sys.modules[package]), called)

    def _resolve(self, read: NameRead, scope: Dict[str, Any], text: Text, own: Set[str]) -> None:
        """Make one chain of names mean in the file what it means in the program. ``own``: names bound by the function
        itself."""
        value, depth = scope.get(read.parts[0], _ABSENT), 1
        if value is _ABSENT:
            # A builtin, or an undefined name, which may be the failure itself.
            self._future = self._future or (read.annotation and not hasattr(builtins, read.parts[0]))
            return
        while isinstance(value, ModuleType) and not values.is_compilers(value.__name__) and depth < len(read.parts):
            member = getattr(value, read.parts[depth], _ABSENT)
            if member is _ABSENT or _stays(member):
                break
            value, depth = member, depth + 1
        if read.annotation and not self.reads_annotations and not _of_compiler(value):
            self._future = True
            return
        preferred = read.parts[depth - 1]
        try:
            name = self.name(value, preferred, _annotated(scope, preferred) if depth == 1 else False)
        except (values.NoText, OSError, TypeError, SyntaxError) as error:
            self.notes.append("%s: %s" % (".".join(read.parts[:depth]), error))
            return
        self._import_below(value, read.parts[depth:])
        if name != ".".join(read.parts[:depth]):
            name = self._alias(name, own) if name in own else name
            text.replace(*text.span(read.nodes[depth - 1]), name)

    def name(self, value: Any, preferred: str = "", annotated: bool = False) -> str:
        """The name of a value in the file, which is added if needed. Raises NoText, and OSError or TypeError for a
        value without source."""
        name = str(getattr(value, "__name__", "value"))
        preferred = preferred or _USUAL.get(name, name.rpartition(".")[2])
        if isinstance(value, ModuleType):
            return self._import(value, preferred)
        function = _users_function(value)
        if function is not None:
            return self.define(function)
        if values.is_code(value):
            return self._import_from(value, preferred)
        expression = values.expression(value, self._in_expression)
        key = ("value", expression, annotated)
        if key not in self._named or self._named[key] != preferred:
            self._named[key] = self._free(preferred, key)
            annotation = ": %s.constexpr" % self.name(sys.modules["triton.language"]) if annotated else ""
            line = "%s%s = %s" % (self._named[key], annotation, expression)
            if line not in self._definitions:
                self._definitions.append(line)
        return self._named[key]

    def _in_expression(self, value: Any) -> str:
        """The name of an object that a generated expression refers to: ``tl.constexpr``."""
        public = values.public(value)
        if public is None:
            return self.name(value)
        prefix, path = public
        return "%s.%s" % (self.name(sys.modules[values.LANGUAGES[prefix]], prefix), path)

    def _import(self, module: ModuleType, preferred: str) -> str:
        key = ("object", id(module))
        if key not in self._named:
            name = self._named[key] = self._free(preferred, key)
            path = module.__name__
            parent, _, child = path.rpartition(".")
            if name != child:
                self._imports.append("import %s as %s" % (path, name))
            else:
                self._imports.append("from %s import %s" % (parent, child) if parent else "import %s" % path)
        return self._named[key]

    def _import_from(self, value: Any, preferred: str) -> str:
        key = ("object", id(value))
        if key not in self._named:
            self._referents.append(value)
            module, path = _import_path(value)
            name = self._named[key] = self._free(preferred, key)
            self._imports.append("from %s import %s%s" % (module, path, "" if path == name else " as %s" % name))
        return self._named[key]

    def _import_below(self, value: Any, rest: Any) -> None:
        """Import modules such as ``tl.extra.cuda.libdevice``, which exist as attributes only after an import."""
        for part in rest:
            value = getattr(value, part, None)
            if not isinstance(value, ModuleType) or not values.is_compilers(value.__name__):
                return
            if sys.modules.get(value.__name__) is value:
                self._imports.append("import %s" % value.__name__)

    def _alias(self, name: str, own: Set[str]) -> str:
        """Another name for a global that a local variable hides."""
        key = ("alias", name)
        other = self._named.get(key)
        if other is None or other in own:
            other = self._named[key] = self._free(name, key, own)
            self._definitions.append("%s = %s" % (other, name))
        return other

    def _free(self, preferred: str, key: Any, avoid: Optional[Set[str]] = None) -> str:
        name, number = preferred, 1
        while self._bound.get(name, key) != key or (avoid and name in avoid):
            number += 1
            name = "%s_%d" % (preferred, number)
        self._bound[name] = key
        return name


def is_gluon(kernel: Any) -> bool:
    """Whether ``gluon.jit`` made it."""
    return any(base.__name__ == "GluonJITFunction" for base in type(kernel).__mro__)


def python(function: Any) -> Any:
    """The Python function inside a jitted one."""
    while not isinstance(function, (FunctionType, type)) and hasattr(function, "fn"):
        function = function.fn
    return function


def location(kernel: Any) -> Optional[Dict[str, Any]]:
    """Names, file and line of a jitted function's ``def`` in the program, so that compiling a copy gives the same
    result; None if the source is no longer available."""
    plain = python(kernel)
    lines, first = getattr(kernel, "raw_src", None), getattr(kernel, "starting_line_number", None)
    if lines is None or first is None:  # up to 3.4
        try:
            lines, first = inspect.getsourcelines(plain)
        except (OSError, TypeError):
            return None
    above = next((number for number, line in enumerate(lines) if line.strip().startswith("def ")), None)
    if above is None:
        return None
    return {
        "name": plain.__name__,
        "qualname": plain.__qualname__,
        "module": plain.__module__,
        "file": plain.__code__.co_filename,
        "line": first + above,
    }


def _scope(function: Any) -> Dict[str, Any]:
    plain = python(function)
    if isinstance(plain, type):
        scope = dict(vars(sys.modules.get(plain.__module__, builtins)))
        methods = [python(getattr(member, "__wrapped__", member)) for member in vars(plain).values()]
        for method in methods:
            if isinstance(method, FunctionType):
                scope.update(_captured(method))
        return scope
    scope = dict(plain.__globals__)
    # Up to 3.3 Triton does not see a kernel's closure.
    if not values.is_jitted(function) or hasattr(function, "get_capture_scope"):
        scope.update(_captured(plain))
    return scope


def _captured(function: Any) -> Dict[str, Any]:
    """What a function's closure holds, by name."""
    captured = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):  # noqa: B905 - of Python 3.10
        try:
            captured[name] = cell.cell_contents
        except ValueError:  # not bound yet
            pass
    return captured


def _users_function(value: Any) -> Any:
    """The user's function or class to be written down; None for one of a library."""
    if values.is_jitted(value) or type(value).__name__ == "ConstexprFunction":
        return None if values.is_compilers(getattr(value, "__module__", None)) else value
    # 3.4 wraps a constexpr_function in a function, CuTe DSL a host function or kernel; its struct holds a class.
    plain = getattr(value, "__wrapped__", value) if isinstance(value, FunctionType) else value
    if values.is_compilers(type(value).__module__) and isinstance(getattr(value, "_cls", None), type):
        plain = value._cls
    if not isinstance(plain, (FunctionType, type)):
        return None
    top = str(plain.__module__).partition(".")[0]
    if top in _HOST or values.is_compilers(top) or _is_standard(top):
        return None
    return plain


def _is_standard(top: str) -> bool:
    if top in sys.builtin_module_names:
        return True
    names = getattr(sys, "stdlib_module_names", None)  # Python 3.10
    if names is not None:
        return top in names and top != "__main__"
    file = getattr(sys.modules.get(top), "__file__", None) or ""
    return file.startswith(inspect.__file__.rpartition("/")[0]) and "site-packages" not in file


def _stays(value: Any) -> bool:
    """Whether to read a value from its module rather than write it down: host library functions, and values that are
    neither code nor constants."""
    if isinstance(value, ModuleType) or _of_compiler(value) or _users_function(value) is not None:
        return False
    if values.is_code(value):
        return True
    try:
        values.expression(value, lambda item: "name")
    except values.NoText:
        return True
    return False


def _of_compiler(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return values.is_compilers(value.__name__)
    holder = value if isinstance(value, (type, FunctionType)) else type(value)
    return values.is_compilers(getattr(holder, "__module__", None)) and not values.is_jitted(value)


def _annotated(scope: Dict[str, Any], name: str) -> bool:
    """Whether a global is annotated as ``N: tl.constexpr = 4``, which makes it a constexpr up to 3.2."""
    annotation = (scope.get("__annotations__") or {}).get(name)
    return "constexpr" in (annotation if isinstance(annotation, str) else getattr(annotation, "__name__", ""))


def _import_path(value: Any) -> Any:
    """Module and name from which a function or class can be imported. Raises NoText."""
    name = str(getattr(value, "__name__", ""))
    for module in ("triton.language", "triton", "cutlass", "cutlass.cute", str(getattr(value, "__module__", ""))):
        if name and module and getattr(sys.modules.get(module), name, None) is value:
            return module, name
    if getattr(builtins, name, None) is value:
        return "builtins", name
    raise values.NoText("%r is in no module under its name" % (value,))
