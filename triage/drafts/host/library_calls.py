"""What functions of Python, Triton's host side and other projects return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from triage.drafts.host import torch_calls
from triage.drafts.host.containers import each_of, integer_of
from triage.drafts.host.operations import computed, converted, is_instance, passed_on
from triage.drafts.host.values import (
    UNKNOWN,
    Abstract,
    Alternatives,
    Const,
    Function,
    HostDescriptor,
    Int,
    Items,
    KernelValue,
    Mapped,
    TensorValue,
    merged,
)


def result(
    name: str,
    positional: list[Alternatives],
    words: dict[str, Alternatives],
    attribute_of: Callable[[Abstract, str], Alternatives],
) -> Alternatives:
    """What a function of another project returns. ``attribute_of`` evaluates ``getattr``."""
    last = name.rpartition(".")[2]
    first = positional[0] if positional else UNKNOWN
    if name.startswith("builtins."):
        return _builtin(last, positional, words, attribute_of)
    if any(isinstance(value, KernelValue) for value in first) and last != "partial":
        return tuple(value for value in first if isinstance(value, KernelValue))
    if last == "partial":
        return merged(
            (
                replace(each, bound=(*each.bound, *positional[1:]), words=(*each.words, *words.items()))
                if isinstance(each, Function)
                else each
            )
            for each in first
        )
    if last == "TensorDescriptor" or name.endswith("TensorDescriptor.from_tensor"):
        block = words.get(
            "block_shape",
            positional[1]
            if last == "from_tensor" and len(positional) > 1
            else positional[3]
            if len(positional) > 3
            else UNKNOWN,
        )
        tensor = next(
            (each for each in words.get("base", words.get("tensor", first)) if isinstance(each, TensorValue)),
            TensorValue(),
        )
        return (
            HostDescriptor(
                tensor,
                tuple(integer_of(item) for item in block[0].items)
                if isinstance(block[0], Items) and not block[0].open
                else None,
            ),
        )
    if last in (
        "cdiv",
        "next_power_of_2",
        "ceil",
        "floor",
        "sqrt",
        "log2",
        "prod",
        "gcd",
        "ceil_div",
        "log",
        "exp",
    ):
        return computed(last, positional)
    if last == "constexpr":
        return first
    if last in ("Parameter", "Buffer") and isinstance(first[0], TensorValue):
        # A module's own tensors get the type of the model that it is part of.
        return (TensorValue(None, first[0].sizes),)
    if name.startswith("torch."):
        return torch_calls.function_result(name, last, positional, words)
    if name.startswith(("dataclasses.", "typing.", "os.", "sys.", "warnings.", "logging.", "functools.")):
        return UNKNOWN
    return passed_on(positional)


def _builtin(
    last: str,
    positional: list[Alternatives],
    words: dict[str, Alternatives],
    attribute_of: Callable[[Abstract, str], Alternatives],
) -> Alternatives:
    first = positional[0] if positional else UNKNOWN
    match last:
        case "len":
            match first[0]:
                case Items(items=items, open=False):
                    return (Int(len(items), True),)
            return (Int(),)
        case "min" | "max":
            if len(positional) == 1 and isinstance(first[0], Items):
                positional = list(first[0].items)
            return computed(last, positional)
        case "int" | "float" | "bool" | "abs" | "round":
            return merged(converted(last, value) for value in first)
        case "sum":
            return (Int(),)
        case "tuple" | "list":
            return first if isinstance(first[0], Items) else UNKNOWN
        case "dict":
            return (Mapped(tuple(words.items())),)
        case "range":
            match first[0] if len(positional) == 1 else None:
                case Int(value=int(count), exact=True) if count <= 16:
                    return (Items(tuple((Int(index, True),) for index in range(count))),)
            return (Items(((Int(),),), open=True),)
        case "getattr":
            match positional[1][0] if len(positional) > 1 else None:
                case Const(value=str(attr)):
                    attributes = merged(*(attribute_of(value, attr) for value in first))
                    return merged(attributes, positional[2]) if len(positional) > 2 else attributes
        case "isinstance" if len(positional) == 2:
            return merged(is_instance(value, positional[1][0]) for value in first)
        case "zip":
            return (Items(((Items(tuple(each_of(each) for each in positional)),),), open=True),)
        case "enumerate":
            return (Items(((Items(((Int(),), each_of(first))),),), open=True),)
        case "reversed" | "sorted" | "iter" | "next":
            return first
    return UNKNOWN
