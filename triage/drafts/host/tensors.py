"""Shapes and element types of tensors, as the calls that make them state them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from triage.drafts.host.containers import integer_of
from triage.drafts.host.values import (
    MOST_NUMBER,
    UNKNOWN,
    Alternatives,
    Const,
    Dtype,
    Float,
    Int,
    Items,
    TensorValue,
    Unknown,
)


def shape_of(tensor: TensorValue) -> Items:
    if tensor.sizes is None:
        return Items(((Int(),),), open=True)
    return Items(tuple((size,) for size in tensor.sizes))


def transposed(tensor: TensorValue) -> TensorValue:
    sizes = None if tensor.sizes is None else tuple(Int() for _ in tensor.sizes)
    if tensor.sizes is not None and len(tensor.sizes) == 2:
        sizes = tensor.sizes[::-1]
    return TensorValue(tensor.dtype, sizes, not tensor.transposed)


def stated_sizes(positional: list[Alternatives], words: Mapping[str, Alternatives]) -> tuple[Int, ...] | None:
    """The dimensions that the arguments of ``torch.empty`` state."""
    stated = words.get("size", words.get("shape"))
    if stated is None and len(positional) == 1 and isinstance(positional[0][0], Items):
        stated = positional[0]
    if stated is not None:
        return None if not isinstance(stated[0], Items) or stated[0].open else tuple(map(integer_of, stated[0].items))
    if positional and all(any(isinstance(value, Int) for value in values) for values in positional):
        return tuple(map(integer_of, positional))
    return None


def product_of(sizes: tuple[Int, ...] | None) -> Int:
    if not sizes or any(size.value is None for size in sizes):
        return Int()
    number = math.prod(size.value or 0 for size in sizes)
    return Int(number if number < MOST_NUMBER else None, all(size.exact for size in sizes))


def stated_dtype(words: Mapping[str, Alternatives], default: str | None) -> str | None:
    match words.get("dtype", UNKNOWN)[0]:
        case Dtype(name=name):
            return name
        case Const(value=None) | Unknown() if "dtype" not in words:
            return default
        case Const(value=None):
            return default
    return None


def any_float(positional: list[Alternatives]) -> bool:
    return any(
        isinstance(value, Float)
        or (isinstance(value, Items) and any(isinstance(each[0], Float) for each in value.items))
        for values in positional
        for value in values[:1]
    )
