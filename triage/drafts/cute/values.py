"""Values of a program that is evaluated without being run.

Numbers, texts, tuples, lists and dictionaries are Python's own; the classes here stand for everything else.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from triage.drafts.host.values import Unknown
from triage.harness.worker.cute.grammar import DTYPES, Dynamic, width

DTYPE_NAMES = {name: short for short, name in DTYPES.items()}
"""Classes of ``cutlass`` and their names in a case."""
TORCH_DTYPES = {
    "float16": "f16", "half": "f16", "bfloat16": "bf16", "float32": "f32", "float": "f32", "float64": "f64",
    "double": "f64", "int8": "i8", "uint8": "u8", "int16": "i16", "short": "i16", "uint16": "u16", "int32": "i32",
    "int": "i32", "uint32": "u32", "int64": "i64", "long": "i64", "uint64": "u64", "bool": "i1",
    "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2", "float8_e8m0fnu": "f8e8m0", "float4_e2m1fn_x2": "f4e2m1",
}  # fmt: skip
"""Types of torch, numpy and JAX, and their names in a case."""


UNKNOWN = Unknown()


class Guess(int):
    """An integer that no source states: the size that is usual for a name, a property of the GPU."""


def _guessed(function: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Guess, Any], Any]:
    def apply(self: Guess, other: Any) -> Any:
        if not isinstance(other, int) or isinstance(other, bool):
            left, right = (other, int(self)) if swapped else (int(self), other)
            return function(left, right) if isinstance(other, float) else NotImplemented
        result = function(int(other), int(self)) if swapped else function(int(self), int(other))
        return Guess(result) if isinstance(result, int) else result

    return apply


for _name, _function in {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv, "mod": operator.mod,
    "lshift": operator.lshift, "rshift": operator.rshift, "and": operator.and_, "or": operator.or_,
}.items():  # fmt: skip
    setattr(Guess, f"__{_name}__", _guessed(_function, False))
    setattr(Guess, f"__r{_name}__", _guessed(_function, True))


@dataclass(frozen=True, slots=True)
class ElementType:
    """A type of elements of the DSL; ``name`` as in a case. ``guessed``: no source states it."""

    name: str
    guessed: bool = field(default=False, compare=False)

    @property
    def bits(self) -> int:
        return 1 if self.name == "i1" else width(self.name)


@dataclass(frozen=True, slots=True)
class TorchDtype:
    """A type of elements of torch, by the name that the DSL has for it in a case."""

    name: str
    guessed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class TypedNumber:
    """A number with a type of the DSL: ``cutlass.Int32(4)``."""

    dtype: str
    value: Any


Extent = int | Dynamic


@dataclass(eq=False, slots=True)
class TorchTensor:
    """A tensor of a framework. ``shape`` and ``stride``: None where the number of dimensions is not known yet.
    ``guessed``: no source states what it is."""

    dtype: str
    shape: tuple[int, ...] | None
    stride: tuple[int, ...] | None
    guessed: bool = False
    where: str = ""
    host: bool = False
    """In memory of the CPU."""


@dataclass(eq=False, slots=True)
class CuteTensor:
    """A tensor of the DSL, ``align`` in bytes."""

    dtype: str
    shape: tuple[Any, ...]
    stride: tuple[Any, ...]
    space: str = "gmem"
    align: int | None = None
    guessed: bool = False
    where: str = ""


@dataclass(frozen=True, slots=True)
class PointerValue:
    dtype: str
    space: str
    align: int | None


@dataclass(frozen=True, slots=True)
class StreamValue:
    """A CUDA stream."""


@dataclass(eq=False)
class NameScope:
    """Names of a function under evaluation, or of a module. ``outer``: where names are looked up that it lacks."""

    module: ModuleValue
    names: dict[str, Any] = field(default_factory=dict)
    outer: NameScope | None = None
    yielded: list[Any] | None = None
    """What a generator has produced."""


@dataclass(eq=False)
class ModuleValue:
    """A file of the project, with its names."""

    path: Path
    tree: ast.Module
    names: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class FunctionValue:
    """A function of the project. ``device``: ``jit`` or ``kernel`` where the DSL compiles it, else empty."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    frame: NameScope
    defaults: Mapping[str, Any]
    owner: ClassValue | None = None
    device: str = ""
    kind: str = ""
    """``staticmethod``, ``classmethod`` or ``property``."""
    tuned: Mapping[str, Any] = field(default_factory=dict)
    """Lists of values of parameters, of which an autotuner tries each combination."""
    options: dict[str, Any] | None = None
    """Arguments that its decorators state; None where they were not read."""

    @property
    def parameters(self) -> list[ast.arg]:
        """All named parameters."""
        return [*self.node.args.posonlyargs, *self.node.args.args, *self.node.args.kwonlyargs]

    @property
    def name(self) -> str:
        return "" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def module(self) -> ModuleValue:
        return self.frame.module


@dataclass(eq=False)
class ClassValue:
    """A class of the project. ``fields``: of a dataclass, with their defaults. ``enumeration``: its members are its
    attributes."""

    node: ast.ClassDef
    module: ModuleValue
    bases: tuple[Any, ...]
    names: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] | None = None
    enumeration: bool = False

    def find(self, name: str) -> Any:
        """An attribute of the class or of its bases; None where there is none."""
        if name in self.names:
            return self.names[name]
        for base in self.bases:
            if isinstance(base, ClassValue) and (inherited := base.find(name)) is not None:
                return inherited
        return None


@dataclass(eq=False)
class ObjectValue:
    """An object of a class of the project. ``arguments``: of its constructor, by parameter."""

    cls: ClassValue
    attributes: dict[str, Any] = field(default_factory=dict)
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class BoundMethod:
    function: FunctionValue
    owner: Any


@dataclass(frozen=True, eq=False, slots=True)
class ForeignMethod:
    """A method of a value that is not an object of the project: ``tensor.permute``, ``parser.add_argument``."""

    owner: Any
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Partial:
    function: Any
    positional: tuple[Any, ...]
    words: Mapping[str, Any]


@dataclass(eq=False)
class ArgumentParser:
    """``defaults``: what its options are where a command line states none of them."""

    defaults: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False)
class Namespace:
    """An object of which only attributes are known."""

    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompiledHost:
    """What ``cute.compile`` returns."""


def is_guessed(value: Any) -> bool:
    """Whether a value, or a part of it, is one that no source states."""
    match value:
        case Guess() | Unknown():
            return True
        case ElementType(guessed=guessed) | TorchDtype(guessed=guessed):
            return guessed
        case TorchTensor(guessed=guessed) | CuteTensor(guessed=guessed):
            return guessed
        case TypedNumber(value=inner):
            return is_guessed(inner) and not isinstance(inner, Unknown)
        case tuple() | list():
            return any(map(is_guessed, value))
    return False
