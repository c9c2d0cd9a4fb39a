"""Placeholders for host-side packages that the environment under test does not have.

Kernels live in files that import torch for the code around them. A managed environment holds Triton alone, and the
kernel needs no more: so where torch and the like are missing, the import gets an object that accepts any use
on the host side. Names outside the list stay missing: a helper that the kernel calls must be the real one.
"""

import importlib.abc
import importlib.machinery
import sys
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Iterator, List, Optional

HOST_SIDE = frozenset(
    {
        "torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "matplotlib", "jax", "jaxlib", "einops",
        "transformers", "safetensors", "datasets", "accelerate", "tqdm", "pytest", "packaging", "tabulate", "ml_dtypes",
        "typing_extensions", "hypothesis", "numba", "cupy",
    }
)  # fmt: skip
"""Packages that run on the host and never inside a kernel."""


class Undecidable(BaseException):
    """User code depends on what nobody knows here; the text says on what. Not an Exception: a handler of the user's own
    would decide in its place."""


def torch() -> Any:
    """The torch that kernels' modules use. Raises Undecidable."""
    if "torch" not in sys.modules:
        raise Undecidable("torch is not installed there")
    return sys.modules["torch"]


def _attribute(owner: Any, name: str) -> Any:
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return StandIn


def _same(value: Any, *_: Any) -> Any:
    return value


def _false(*_: Any) -> bool:
    return False


def _zero(*_: Any) -> int:
    return 0


def _nothing(*_: Any) -> Any:
    return iter(())


class _Meta(type):
    """Makes the class itself a placeholder: it can be subclassed, called, compared and indexed."""

    __getattr__ = _attribute
    __iter__ = _nothing
    __bool__ = _false
    __or__ = __ror__ = _same
    __lt__ = __le__ = __gt__ = __ge__ = _false

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        return _called(super().__call__, arguments, named) if cls is StandIn else super().__call__()

    def __getitem__(cls, key: Any) -> Any:
        return StandIn


def _called(make: Any, arguments: Any, named: Any) -> Any:
    """A call with one function is that of a decorator: return the function."""
    if len(arguments) == 1 and not named and callable(arguments[0]) and not isinstance(arguments[0], _Meta):
        return arguments[0]
    return make()


class StandIn(metaclass=_Meta):
    """Every attribute, call and item of a missing package."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        return

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return _called(StandIn, arguments, named)

    def __float__(self) -> float:
        return 0.0

    def __exit__(self, *ended: Any) -> None:
        return

    __getattr__ = _attribute
    __iter__ = _nothing
    __len__ = __int__ = _zero
    __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _false
    __getitem__ = __enter__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __truediv__ = __floordiv__ = __mod__ = __pow__ = _same


class _Module(ModuleType):
    """A missing package or one of its submodules."""

    __getattr__ = _attribute


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: serves the packages of the list that no other finder has."""

    def __init__(self) -> None:
        self.used: List[str] = []

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """A placeholder for a package that is missing as a whole; a missing part of a real one stays missing."""
        package = fullname.partition(".")[0]
        if package not in HOST_SIDE or (package != fullname and package not in self.used):
            return None
        if package not in self.used:
            self.used.append(package)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """An empty module that has every attribute."""
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing."""


@contextmanager
def installed() -> Iterator[Finder]:
    """Serve missing packages of the list, and remove them afterwards: Triton must not take torch for installed."""
    finder = Finder()
    sys.meta_path.append(finder)
    try:
        yield finder
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] in finder.used]:
            if isinstance(sys.modules[name], _Module):
                del sys.modules[name]
