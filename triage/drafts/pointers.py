"""Which parameters are addresses, and which are strides of innermost dimensions."""

from __future__ import annotations

import ast

from triage.drafts.declarations import declared_type, is_constexpr
from triage.drafts.device.uses import Use, Uses
from triage.drafts.host.frame import Launch
from triage.drafts.host.values import (
    NONE,
    Const,
    Dtype,
    Float,
    HostDescriptor,
    Int,
    TensorValue,
    Unknown,
)
from triage.drafts.jitted import Jitted
from triage.drafts.names import Role, role


def never_pointers(jitted: Jitted, launches: list[Launch]) -> frozenset[str]:
    """Parameters that are not addresses: constants, and those that launches pass numbers for."""
    names = {argument.arg for argument in jitted.arguments if is_constexpr(argument)}
    for argument in jitted.arguments:
        values = [value for launch in launches for value in launch.arguments.get(argument.arg, ())]
        values = [value for value in values if not isinstance(value, Unknown) and value != NONE]
        if values and all(isinstance(value, Int | Float | Const | Dtype) for value in values):
            names.add(argument.arg)
        if not values and argument.annotation is not None and declared_type(argument) is not None:
            names.add(argument.arg)
        rule = role(argument.arg)
        if not values and rule is not None and rule.role is Role.STRIDE:
            names.add(argument.arg)
    return frozenset(names)


def pointers_of(jitted: Jitted, launches: list[Launch], uses: Uses) -> frozenset[str]:
    """Parameters that are addresses, or descriptors."""
    names = set()
    for argument in jitted.arguments:
        name = argument.arg
        if is_constexpr(argument):
            continue
        values = [value for launch in launches for value in launch.arguments.get(name, ())]
        rule = role(name)
        tensor = any(isinstance(value, TensorValue | HostDescriptor) for value in values)
        number = any(isinstance(value, Int | Float) for value in values)
        used = uses.has(name, Use.ADDRESS) or uses.has(name, Use.DESCRIPTOR)
        annotation = ast.unparse(argument.annotation) if argument.annotation else ""
        if (
            tensor
            or "pointer" in annotation
            or "'*" in annotation
            or (used and not number)
            or (not values and rule is not None and rule.role is Role.POINTER and not uses.has(name, Use.INTEGER))
        ):
            names.add(name)
    return frozenset(names)


def innermost_strides(jitted: Jitted, launches: list[Launch]) -> frozenset[str]:
    """Strides of innermost dimensions: as launches show, or else the last of several that are named alike."""
    names = set()
    for argument in jitted.arguments:
        values = [value for launch in launches for value in launch.arguments.get(argument.arg, ())[:1]]
        if any(isinstance(value, Int) and value.inner for value in values):
            names.add(argument.arg)
    if launches:
        return frozenset(names)
    group: list[str] = []
    for name in [*(argument.arg for argument in jitted.arguments if not is_constexpr(argument)), ""]:
        rule = role(name)
        stride = rule is not None and rule.role is Role.STRIDE
        if group and (not stride or name[:-1] != group[0][:-1]):
            if len(group) > 1:
                names.add(group[-1])
            group = []
        if stride:
            group.append(name)
    return frozenset(names)
