"""Import the user's kernel module as its own program would, and find the kernel in it."""

import gc
import importlib
import importlib.util
import sys
from collections import deque
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from . import imports, ir_text, placeholders, slices

_MOST_LAYERS = 16
"""Decorators of one function; real kernels have three."""
_MOST_OBJECTS = 1000
"""Objects searched for a function below decorators of the user's own; a wrapper holds some dozens."""


class BadKernel(Exception):
    """The module was imported, but does not have the kernel that the case names."""


def load_module(
    path: Path, sliced: bool = False, lent: Optional[Mapping[str, str]] = None
) -> Tuple[ModuleType, List[str]]:
    """Import the file as its own program would; returns it, and the host packages for which it got stand-ins (see
    ``imports.py``). For a text of IR the module is empty. Raises whatever the module raises, and Undecidable."""
    if path.suffix in ir_text.ENDINGS:
        return ModuleType("_triage_no_module"), []
    if not sliced:
        try:
            return _import(path), []
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in imports.HOST_SIDE:
                raise
    with imports.stand_ins(sliced, lent or {}) as finder:
        module = _import(path)
    placeholders.check()
    return module, finder.names


def _import(path: Path) -> ModuleType:
    """Inside a package under its dotted name (relative imports work), else under its stem."""
    root, names = path.parent, [path.stem]
    while (root / "__init__.py").is_file() and root.parent != root:
        names.insert(0, root.name)
        root = root.parent
    # What a linked file imports is beside the link, or beside the file, as when Python runs it as a program.
    for folder in (path.resolve().parent, root) if len(names) == 1 else (root,):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    slices.install(root)
    sys.dont_write_bytecode = True  # Write nothing into the user's folders.
    # The name must not be taken by a module of Python or Triton, and must be an identifier to be importable.
    if len(names) > 1 and all(name.isidentifier() for name in names):
        return importlib.import_module(".".join(names))
    name = path.stem if path.stem.isidentifier() and path.stem not in sys.modules else "_triage_kernel_" + path.stem
    spec = slices.spec(name, path)
    if spec is None or spec.loader is None:
        raise BadKernel("%s is not a Python file" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def find_kernel(module: ModuleType, name: str) -> Any:
    """The jitted function of that name, without its other decorators. Raises BadKernel."""
    return find_layers(module, name)[-1]


def find_layers(module: ModuleType, name: str) -> List[Any]:
    """The function of that name in each of its decorators, outermost first; the jitted function is the last. Raises
    BadKernel, and Undecidable where a stand-in replaces the function."""
    value = getattr(module, name, None)
    if value is None:
        jitted = [key for key, value in vars(module).items() if is_jitted(unwrap(value))]
        raise BadKernel("no function %r; jitted here: %s" % (name, ", ".join(jitted) or "none"))
    layers = _chain(value)
    if type(layers[-1]) is placeholders.StandIn:
        expression = placeholders.path_of(layers[-1])
        raise placeholders.Undecidable("%s is `%s`, and %s" % (name, expression, placeholders.reason(expression)))
    if not is_jitted(layers[-1]):
        layers = _search(value, name)
    if not layers:
        raise BadKernel("%r is not decorated with @triton.jit or @gluon.jit" % name)
    return layers


def unwrap(value: Any) -> Any:
    """The function below decorators."""
    return _chain(value)[-1]


def _chain(value: Any) -> List[Any]:
    """Decorated objects, down to a jitted function where they follow a convention: Triton's decorators hold the
    function below them in .fn (and so does JITFunction itself: the plain one), those of functools in .__wrapped__."""
    layers = [value]
    while not is_jitted(layers[-1]) and len(layers) < _MOST_LAYERS:
        own = _attributes(layers[-1])
        below = own.get("fn", own.get("__wrapped__"))
        if below is None:
            break
        layers.append(below)
    return layers


def _search(value: Any, name: str) -> List[Any]:
    """The shortest path to the jitted function ``name`` through attributes and closures: a decorator of the user's own
    may use any. Empty where there is none."""
    paths, seen = deque([[value]]), {id(value)}
    while paths and len(seen) < _MOST_OBJECTS:
        path = paths.popleft()
        for held in _held(path[-1]):
            if is_jitted(held) and held.fn.__name__ == name:
                return [*path, held]
            if id(held) not in seen and not isinstance(held, (type, ModuleType)):
                seen.add(id(held))
                paths.append([*path, held])
    return []


def _held(value: Any) -> Iterator[Any]:
    yield from _attributes(value).values()
    if isinstance(value, partial):
        yield value.func
    for cell in (isinstance(value, FunctionType) and value.__closure__) or ():
        with suppress(ValueError):  # an empty cell
            yield cell.cell_contents


def _attributes(value: Any) -> Dict[str, Any]:
    """The attributes that an object itself has, read without running code of its class."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return own if type(own) is dict else {}


def is_jitted(value: Any) -> bool:
    """True for Triton's JITFunction and Gluon's subclass of it."""
    return any(base.__name__ == "JITFunction" for base in type(value).__mro__)


def hash_kernels(module: ModuleType) -> None:
    """Compute the hash of each kernel's source, which Triton caches, once and before any fork."""
    for value in list(vars(module).values()):
        kernel = unwrap(value)
        if not is_jitted(kernel):
            continue
        try:
            kernel.cache_key  # noqa: B018 - a property that remembers its value
        except Exception:
            # A kernel that cannot be hashed must fail in its own compile, as it does for the user; but Triton has left
            # its recursion marker in the hashes.
            for other in gc.get_objects():
                if is_jitted(other):
                    other.hash = None
            return
