"""Attributes and items of values: read, stored, iterated over, unpacked."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from triage.drafts.cute import dsl_calls, torch_calls
from triage.drafts.cute.layouts import row_major
from triage.drafts.cute.operators import MOST_ITEMS
from triage.drafts.cute.symbols import Extents, Symbol, SymbolElement
from triage.drafts.cute.values import (
    UNKNOWN,
    ArgumentParser,
    BoundMethod,
    ClassValue,
    CuteTensor,
    ElementType,
    ForeignMethod,
    FunctionValue,
    Guess,
    ModuleValue,
    Namespace,
    ObjectValue,
    TorchDtype,
    TorchTensor,
    TypedNumber,
)
from triage.drafts.host.values import Foreign, Unknown
from triage.drafts.names import usual_size

_SUBSCRIPTED = frozenset({"cutlass", "typing", "collections", "builtins"})
"""Packages whose classes and functions take options or types in brackets."""


class Members:
    """Attributes and items of values; those of modules, and of the project's classes, are evaluated."""

    @abstractmethod
    def invoke(self, function: Any, positional: Sequence[Any], words: Mapping[str, Any]) -> Any:
        """The result of calling a value."""

    @abstractmethod
    def global_name(self, module: ModuleValue, name: str) -> Any:
        """What a name of a module stands for."""

    def attribute(self, owner: Any, name: str) -> Any:
        """``owner.name``"""
        match owner:
            case Symbol():
                return owner.attribute(name)
            case SymbolElement():
                return UNKNOWN
            case ModuleValue():
                return self.global_name(owner, name)
            case Foreign():
                return foreign(f"{owner.name}.{name}")
            case ObjectValue():
                return self.member(owner, name)
            case ClassValue():
                member = owner.find(name)
                if isinstance(member, FunctionValue) and member.kind == "classmethod":
                    return BoundMethod(member, owner)
                if name == "__name__":
                    return owner.node.name
                return UNKNOWN if member is None and name not in owner.names else member
            case Namespace(attributes=attributes):
                return attributes.get(name, ForeignMethod(owner, name))
            case TorchTensor():
                return torch_calls.tensor_attribute(owner, name)
            case CuteTensor():
                return dsl_calls.tensor_attribute(owner, name)
            case ElementType():
                return dsl_calls.dtype_attribute(owner, name)
            case TorchDtype():
                return torch_calls.dtype_attribute(owner, name)
            case TypedNumber(value=value):
                return value if name == "value" else UNKNOWN
            case str() | list() | tuple() | dict() | ArgumentParser() | BoundMethod() | FunctionValue():
                return ForeignMethod(owner, name)
        return UNKNOWN

    def member(self, owner: ObjectValue, name: str) -> Any:
        if name in owner.attributes:
            return owner.attributes[name]
        if name == "__class__":
            return owner.cls
        member = owner.cls.find(name)
        if isinstance(member, FunctionValue):
            if member.kind == "property":
                return self.invoke(BoundMethod(member, owner), (), {})
            if member.kind == "staticmethod":
                return member
            return BoundMethod(member, owner.cls if member.kind == "classmethod" else owner)
        return UNKNOWN if member is None and name not in owner.cls.names else member

    def store(self, owner: Any, name: str, value: Any) -> None:
        """``owner.name = value``"""
        match owner:
            case ObjectValue():
                owner.attributes[name] = value
            case Namespace():
                owner.attributes[name] = value
            case ClassValue() | ModuleValue():
                owner.names[name] = value
            case CuteTensor() if name == "element_type" and isinstance(value, ElementType):
                owner.dtype = value.name

    def item(self, owner: Any, index: Any) -> Any:
        """``owner[index]``"""
        match owner:
            case Symbol() | Extents():
                return owner.item(index)
            case dict():
                if isinstance(index, Symbol):
                    index.facts.keys += owner
                    return next(iter(owner.values()), UNKNOWN)
                try:
                    return owner.get(index, UNKNOWN)
                except TypeError:
                    return UNKNOWN
            case list() | tuple() | str() | range():
                if isinstance(index, Symbol):
                    index.facts.counted = True
                try:
                    return owner[index]
                except (TypeError, IndexError, ValueError):
                    return UNKNOWN
            case ForeignMethod(owner=TorchTensor(), name="shape"):
                return Guess(usual_size(f"dim{index}")) if isinstance(index, int) else UNKNOWN
            case TorchTensor():
                return _sliced(owner, index)
            case ClassValue(enumeration=True) if isinstance(index, str):
                return owner.names.get(index, UNKNOWN)
            case ObjectValue():
                method = owner.cls.find("__getitem__")
                return self.invoke(BoundMethod(method, owner), (index,), {}) if method is not None else UNKNOWN
            case Foreign() | ClassValue():
                # As cute.compile[options], Tuple[int].
                return owner if isinstance(owner, ClassValue) or owner.root in _SUBSCRIPTED else UNKNOWN
        return UNKNOWN

    def store_item(self, owner: Any, index: Any, value: Any) -> None:
        """``owner[index] = value``"""
        match owner:
            case Symbol():
                owner.item(index)
                owner.facts.stored.append(value)
            case dict() | list():
                with suppress(TypeError, IndexError):
                    owner[index] = value


def iterated(value: Any) -> list[Any]:
    """What a loop over a value goes through; one unknown value where that is not known."""
    match value:
        case list() | tuple() | range():
            return list(value[:MOST_ITEMS])
        case dict() | str():
            return list(value)[:MOST_ITEMS]
        case ClassValue(enumeration=True, names=names):
            return [member for member in names.values() if isinstance(member, ObjectValue)]
        case Symbol():
            value.facts.counted = True
    return [UNKNOWN]


def unpacked(targets: Sequence[ast.expr], value: Any) -> list[Any]:
    """What each target of an unpacking gets."""
    count = len(targets)
    match value:
        case list() | tuple() | range():
            star = next((at for at, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
            values = list(value)
            if star is None:
                return values if len(values) == count else [UNKNOWN] * count
            after = count - star - 1
            return [*values[:star], values[star : len(values) - after], *values[len(values) - after :]]
        case Symbol() | Extents():
            return value.unpacked(count)
        case ForeignMethod(owner=TorchTensor() as tensor, name="shape"):
            shape = tuple(Guess(usual_size(each.id if isinstance(each, ast.Name) else "")) for each in targets)
            tensor.shape, tensor.stride = shape, row_major(shape)
            return list(shape)
    return [UNKNOWN] * count


def foreign(name: str) -> Any:
    """Something of another project, as the value that it is where that is known."""
    root = name.partition(".")[0]
    known: Any = None
    if name == "sys.argv":
        return ["program"]
    if root == "cutlass":
        known = dsl_calls.attribute(name)
    elif root in torch_calls.ROOTS:
        known = torch_calls.attribute(name)
    return known if known is not None else Foreign(name)


def _sliced(tensor: TorchTensor, index: Any) -> Any:
    """A part of a tensor."""
    indices = index if isinstance(index, tuple) else (index,)
    if tensor.shape is None or tensor.stride is None or any(isinstance(each, Unknown) for each in indices):
        return UNKNOWN
    shape: list[int] = []
    stride: list[int] = []
    mode = 0
    for each in indices:
        if each is None:
            shape.append(1)
            stride.append(1)
            continue
        if mode >= len(tensor.shape):
            return UNKNOWN
        if isinstance(each, slice):
            try:
                extent = len(range(*each.indices(tensor.shape[mode])))
            except TypeError:
                return UNKNOWN
            shape.append(extent)
            stride.append(tensor.stride[mode] * (each.step or 1))
        elif not isinstance(each, int):
            return UNKNOWN
        mode += 1
    shape += tensor.shape[mode:]
    stride += tensor.stride[mode:]
    return TorchTensor(tensor.dtype, tuple(shape), tuple(stride), tensor.guessed, tensor.where, tensor.host)
