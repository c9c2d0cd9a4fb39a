"""What is known of a value of the host, without running it: the terms of the abstract evaluation."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from triage.drafts.jitted import Jitted
from triage.drafts.project_file import ProjectFile, Scope

MOST_ALTERNATIVES = 4
"""Values that an expression may have; more are seldom distinct launches."""

MOST_NUMBER = 1 << 62
"""Larger integers count as unknown: no extent or stride of a tensor reaches it, and powers would grow without bound."""

TORCH_TYPES = {
    "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float32": "fp32", "float": "fp32", "float64": "fp64",
    "double": "fp64", "int8": "i8", "uint8": "u8", "int16": "i16", "short": "i16", "uint16": "u16", "int32": "i32",
    "int": "i32", "uint32": "u32", "int64": "i64", "long": "i64", "uint64": "u64", "bool": "i1",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16",
    "float8_e8m0fnu": "u8", "float4_e2m1fn_x2": "u8",
}  # fmt: skip
"""torch's types, as the launcher names them (``type_canonicalisation_dict`` in triton/_utils.py)."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nothing is known."""


@dataclass(frozen=True, slots=True)
class Const:
    """None, a truth value or a text."""

    value: Any


@dataclass(frozen=True, slots=True)
class Int:
    """An integer. ``exact``: the source states it; without it, ``value`` is a usual size, or None.

    ``stride``: the name of the tensor that it is a stride of, with ``inner`` for that of the innermost dimension.
    """

    value: int | None = None
    exact: bool = False
    stride: str | None = None
    inner: bool = False


@dataclass(frozen=True, slots=True)
class Float:
    value: float | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Dtype:
    """A type of elements; None for that of a tensor that the user passes."""

    name: str | None = None


@dataclass(frozen=True, slots=True)
class TensorValue:
    """A tensor. ``dtype`` is None where the user chooses it. ``sizes``: None for an unknown number of dimensions."""

    dtype: str | None = None
    sizes: tuple[Int, ...] | None = None
    transposed: bool = False

    @property
    def rank(self) -> int | None:
        return None if self.sizes is None else len(self.sizes)


@dataclass(frozen=True, slots=True)
class HostDescriptor:
    """A tensor descriptor of the host; the block where it is known."""

    tensor: TensorValue
    block: tuple[Int, ...] | None


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple or a list. ``open``: of unknown length; then the only item stands for each."""

    items: tuple[Alternatives, ...]
    open: bool = False


@dataclass(frozen=True, slots=True)
class Mapped:
    """A dictionary."""

    entries: tuple[tuple[Any, Alternatives], ...]


@dataclass(frozen=True, slots=True)
class KernelValue:
    """A jitted function."""

    jitted: Jitted


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the host, with the arguments that are bound already."""

    scope: Scope
    bound: tuple[Alternatives, ...] = ()
    words: tuple[tuple[str, Alternatives], ...] = ()


@dataclass(frozen=True, slots=True)
class Class:
    file: ProjectFile
    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class; also the ``ctx`` that an autograd function's methods share."""

    file: ProjectFile
    node: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Foreign:
    """Something of another project: ``torch.empty``."""

    name: str

    @property
    def last(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]

    @property
    def root(self) -> str:
        """The package that has it."""
        return self.name.partition(".")[0]


Abstract = (
    Unknown | Const | Int | Float | Dtype | TensorValue | HostDescriptor | Items | Mapped | KernelValue | Function
    | Class | Instance | Foreign
)  # fmt: skip
Alternatives = tuple[Abstract, ...]
"""Values that an expression may have, the likeliest first. Never empty."""

UNKNOWN: Alternatives = (Unknown(),)
TRUE, FALSE, NONE = Const(True), Const(False), Const(None)


def merged(*alternatives: Iterable[Abstract]) -> Alternatives:
    """All alternatives, without what nothing is known of and what says less than another."""
    values = dict.fromkeys(value for each in alternatives for value in each if not isinstance(value, Unknown))
    if any(isinstance(value, TensorValue) and value.dtype is None and value.sizes is not None for value in values):
        values.pop(TensorValue(), None)
    if any(isinstance(value, Int) and value.value is not None for value in values):
        values.pop(Int(), None)
    return tuple(values)[:MOST_ALTERNATIVES] or UNKNOWN


def truth(value: Abstract) -> bool | None:
    """What ``if value`` decides; None where that is unknown."""
    match value:
        case Const(value=constant):
            return bool(constant)
        case Int(value=int(number)):
            return number != 0
        case Float(value=float(number)):
            return number != 0
        case Items(items=items, open=False):
            return bool(items)
        case TensorValue() | KernelValue() | Function() | Class() | Instance() | Dtype() | HostDescriptor():
            return True
    return None


def certain(values: Alternatives) -> bool | None:
    """The truth of all alternatives, where they agree and none rests on a usual size."""
    answers = {truth(value) if not isinstance(value, Int | Float) or value.exact else None for value in values}
    return answers.pop() if len(answers) == 1 else None


def none_last(values: Alternatives) -> Alternatives:
    """The values, None behind the others."""
    return (*(value for value in values if value != NONE), *((NONE,) if NONE in values else ()))


def constant_value(value: Any) -> Abstract:
    """The value of a literal."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return Const(value)
    if isinstance(value, int):
        return Int(value, True)
    return Float(value, True) if isinstance(value, float) else Unknown()
