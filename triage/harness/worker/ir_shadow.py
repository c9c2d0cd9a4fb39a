"""Stand-ins for the names through which a backend builds and runs its pass pipelines.

Every release from 3.0 on makes a pipeline with ``ir.pass_manager`` and ``passes.….add_…(pm, …)``, and reaches ``ir``,
``passes``, ``nvidia``, ``amd`` and ``llvm`` as globals of the backend's module. Replaced there, in a process that is
expendable, they record which pass is added with which arguments, and hand the running of the pipeline to a callback.
"""

from types import ModuleType
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Tuple

_NAMES = ("ir", "passes", "nvidia", "amd", "llvm")
_PLAIN = (bool, int, float, str, type(None))


class PassStep(NamedTuple):
    """One pass of a pipeline: its adder, the adder's dotted name, and its arguments."""

    adder: str
    function: Callable[..., Any]
    arguments: Tuple[Any, ...]
    named: Dict[str, Any]

    def encoded(self) -> Dict[str, Any]:
        """The pass as JSON."""
        return {
            "adder": self.adder,
            "arguments": [encode(value) for value in self.arguments],
            "named": {name: encode(value) for name, value in self.named.items()},
        }


Run = Callable[[Any, List[PassStep], Tuple[Any, ...]], Any]
"""Runs a pipeline: the module, the passes, and the tag of the reproducer's file on releases that have it."""

Callbacks = Dict[str, Callable[..., None]]


class Manager:
    """Replaces a pass manager: collects steps, and passes them to the callback ``run``."""

    def __init__(self, context: Any, run: Run) -> None:
        self.context, self._run = context, run
        self.steps: List[PassStep] = []

    def enable_debug(self) -> bool:
        """False, as the real one returns without a request for dumps."""
        return False

    def run(self, module: Any, *tag: Any) -> Any:
        """Run what was collected."""
        return self._run(module, self.steps, tag)


class _Shadow:
    """A proxy of a module of libtriton: adders are recorded when their argument is a :class:`Manager`, and functions
    named in ``callbacks`` are announced before they are called."""

    def __init__(self, path: str, real: Any, replaced: Dict[str, Any], callbacks: Callbacks) -> None:
        self._path, self._real, self._replaced, self._callbacks = path, real, replaced, callbacks

    def __getattr__(self, name: str) -> Any:
        path = "%s.%s" % (self._path, name)
        if path in self._replaced:
            return self._replaced[path]
        real = getattr(self._real, name)
        if isinstance(real, ModuleType):
            return _Shadow(path, real, self._replaced, self._callbacks)
        if not callable(real) or isinstance(real, type):
            return real

        def call(*arguments: Any, **named: Any) -> Any:
            if arguments and isinstance(arguments[0], Manager):
                arguments[0].steps.append(PassStep(path, real, arguments[1:], named))
                return None
            if path in self._callbacks:
                self._callbacks[path](*arguments)
            return real(*arguments, **named)

        return call


def install(compiler: Any, run: Run, callbacks: Callbacks) -> None:
    """Put the stand-ins into the module of a backend's class; ``run`` gets every pipeline."""
    names = compiler.make_llir.__globals__
    replaced = {"ir.pass_manager": lambda context: Manager(context, run)}
    for name in _NAMES:
        if isinstance(names.get(name), ModuleType):
            names[name] = _Shadow(name, names[name], replaced, callbacks)


def encode(value: Any) -> Any:
    """An argument of an adder as JSON; an object of libtriton (3.0 to 3.4 have a ClusterInfo) by its plain fields."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {"$dict": [[encode(key), encode(item)] for key, item in value.items()]}
    kind = type(value)
    # "triton._C.libtriton.nvidia" in some releases, "libtriton.nvidia" in others.
    home = kind.__module__.rpartition("libtriton")[2].strip(".")
    fields = {name: getattr(value, name) for name in dir(value) if not name.startswith("_")}
    plain = {name: held for name, held in fields.items() if isinstance(held, _PLAIN)}
    return {"$new": "%s.%s" % (home or _home(kind), kind.__name__), "fields": plain}


def _home(kind: type) -> str:
    """The module of libtriton that has a class, if the class itself does not name it."""
    from triton._C import libtriton

    for name in _NAMES:
        if getattr(getattr(libtriton, name, None), kind.__name__, None) is kind:
            return name
    return ""


def resolve(path: str) -> Any:
    """The object of a dotted name below libtriton. Raises AttributeError where this release does not have it."""
    from triton._C import libtriton

    value: Any = libtriton
    for part in path.split("."):
        value = getattr(value, part)
    return value


def decode(value: Any) -> Any:
    """The reverse of :func:`encode`."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict) and "$dict" in value:
        return {decode(key): decode(item) for key, item in value["$dict"]}
    if isinstance(value, dict):
        instance = resolve(value["$new"])()
        for name, held in value["fields"].items():
            setattr(instance, name, held)
        return instance
    return value


def decoded_step(step: Dict[str, Any]) -> PassStep:
    """The pass of :meth:`PassStep.encoded`. Raises AttributeError where this release does not have it."""
    named = {name: decode(value) for name, value in step["named"].items()}
    return PassStep(step["adder"], resolve(step["adder"]), tuple(decode(step["arguments"])), named)


def pass_manager(context: Any, steps: Iterable[PassStep]) -> Any:
    """A real pass manager with these passes."""
    manager = resolve("ir.pass_manager")(context)
    for step in steps:
        step.function(manager, *step.arguments, **step.named)
    return manager
