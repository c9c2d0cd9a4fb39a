"""Ranks what the sources show of each parameter of one kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from triage.drafts.declarations import declared_type, default_of, is_constexpr, literal
from triage.drafts.device.uses import Use, Uses
from triage.drafts.elements import ElementTypes, element_types
from triage.drafts.host.frame import Launch
from triage.drafts.host.values import (
    NONE,
    Abstract,
    Const,
    Dtype,
    Float,
    Int,
    Items,
    Unknown,
)
from triage.drafts.jitted import Jitted
from triage.drafts.model import Basis, JitFunction, Parameter, Value
from triage.drafts.names import Role, role, usual_size
from triage.drafts.pointers import innermost_strides, pointers_of
from triage.drafts.tuning import configurations_of, heuristics_of

_ROW_STRIDE = 1024
"""Stride of an outer dimension in elements, where it is not stated: a row of a usual length."""
_LAUNCHED_DIVISOR = 16
"""The divisor that Triton's launcher looks for in integers (``triton/backends/compiler.py``, ``parse_attr``)."""
_UNROLLED = 4
"""Iterations of an unrolled loop whose number is not stated; the time of the compile grows with it."""


@dataclass(frozen=True, slots=True)
class _Kernel:
    """What is known of a kernel as a whole. ``launches``: the one that says most comes first."""

    jitted: Jitted
    launches: list[Launch]
    uses: Uses
    elements: ElementTypes
    pointers: frozenset[str]
    innermost: frozenset[str]
    tuned: frozenset[str]


def infer(
    jitted: Jitted, launches: list[Launch], uses: Uses, launched: bool, obstacle: str | None, half: str
) -> JitFunction:
    """A jitted function with the candidates for each parameter. ``half``: the project's 16-bit float."""
    launches = _ordered(jitted, launches)
    pointers = pointers_of(jitted, launches, uses)
    heuristics = heuristics_of(jitted)
    configs, configured = configurations_of(jitted)
    kernel = _Kernel(
        jitted,
        launches,
        uses,
        element_types(launches, uses, pointers, half),
        pointers,
        innermost_strides(jitted, launches),
        frozenset(heuristics) | frozenset(configured),
    )
    options = {
        name: Value(constant, Basis.LAUNCH, launch.where)
        for launch in launches[::-1]
        for name, values in launch.options.items()
        if (constant := _constant_of(values[0], name)) is not None
    }
    return JitFunction(
        jitted.file.path,
        jitted.name,
        jitted.node.lineno,
        jitted.language,
        launched,
        tuple(_parameter(kernel, argument, configured) for argument in jitted.arguments),
        configs,
        heuristics,
        options,
        tuple(launch.where for launch in launches),
        tuners=tuple(jitted.tuners) or ((jitted.name,) if jitted.tuned else ()),
        obstacle=obstacle,
    )


def _ordered(jitted: Jitted, launches: list[Launch]) -> list[Launch]:
    """The launch of which most arguments are known first: the values of a case should come from one launch."""

    def unknown(launch: Launch) -> int:
        return sum(
            1
            for argument in jitted.arguments
            if isinstance(launch.arguments.get(argument.arg, (Unknown(),))[0], Unknown)
        )

    return sorted(launches, key=unknown)


def _values(kernel: _Kernel, name: str) -> list[tuple[Abstract, Launch]]:
    """What launches pass for a parameter, the best launch first."""
    return [(value, launch) for launch in kernel.launches for value in launch.arguments.get(name, ())]


def _parameter(kernel: _Kernel, argument: ast.arg, configured: Mapping[str, list[Value]]) -> Parameter:
    name = argument.arg
    constexpr = is_constexpr(argument)
    values = _constexpr(kernel, argument) if constexpr else _argument(kernel, argument)
    if name not in kernel.pointers:
        values = _none_last(values)
    candidates = _distinct([*configured.get(name, []), *values])
    passed = [value for value, _ in _values(kernel, name)]
    optional = NONE in passed or (not passed and kernel.uses.has(name, Use.OPTIONAL) is not None)
    if optional and not constexpr and all(candidate.value is not None for candidate in candidates):
        at = next((launch for value, launch in _values(kernel, name) if value == NONE), None)
        reason = (
            Value(None, Basis.LAUNCH, at.where)
            if at
            else Value(None, Basis.USE, kernel.uses.has(name, Use.OPTIONAL) or "")
        )
        candidates = (*candidates, reason)
    return Parameter(
        name,
        constexpr,
        candidates,
        None if constexpr else _divisible(kernel, name, candidates[0]),
        optional,
        name in kernel.innermost and not constexpr,
        name in kernel.tuned,
    )


def _none_last(values: list[Value]) -> list[Value]:
    """None after the other values that sources state: with it, less of the kernel is compiled."""
    stated = [value for value in values if value.basis.rank <= Basis.DEFAULT.rank and value.value is not None]
    none = [value for value in values if value.value is None]
    last = max((index for index, value in enumerate(values) if value in stated), default=-1)
    before = [value for value in values[: last + 1] if value.value is not None]
    return [*before, *none, *(value for value in values[last + 1 :] if value.value is not None)]


def _divisible(kernel: _Kernel, name: str, best: Value) -> int | None:
    """16 for strides of outer dimensions, and for sizes that usually are multiples of it: the launcher compiles a
    kernel of its own for these, whose loads are wider and pipelined. What is not specialized has no divisor."""
    if name in kernel.jitted.not_specialized:
        return 1
    if not isinstance(best.value, str) or not best.value.startswith(("i", "u")) or best.value == "i1":
        return None
    match next((value for value, _ in _values(kernel, name)), None):
        case Int(stride=str(), inner=inner):
            return None if inner else _LAUNCHED_DIVISOR
        case Int(value=int(number)):
            return _LAUNCHED_DIVISOR if number % _LAUNCHED_DIVISOR == 0 else None
    rule, uses = role(name), kernel.uses
    if rule is not None and rule.role is Role.STRIDE:
        return None if name in kernel.innermost else _LAUNCHED_DIVISOR
    is_size = uses.has(name, Use.INTEGER) and not uses.has(name, Use.SEED) and not uses.has(name, Use.POINTER_CAST)
    return _LAUNCHED_DIVISOR if is_size and usual_size(name) % _LAUNCHED_DIVISOR == 0 else None


def _argument(kernel: _Kernel, argument: ast.arg) -> list[Value]:
    name = argument.arg
    values: list[Value] = []
    passed = dict.fromkeys(value for value, _ in _values(kernel, name))
    number = next((isinstance(value, Int | Float) for value in passed if value != NONE), False)
    if name in kernel.pointers and passed.keys() != {NONE} and not number:
        values += kernel.elements.of(name)
    annotated = declared_type(argument)
    for value, launch in _values(kernel, name):
        values += [Value(type_, basis, at) for type_, basis, at in _passed(kernel, name, value, launch)]
    if name in kernel.pointers:
        tensors = [value for value in values if value.value is not None]
        # An argument that is None wherever it is launched is seldom anything else.
        if passed.keys() == {NONE} or number:
            return values + kernel.elements.of(name)
        return [*tensors, *values]
    if annotated is not None:
        values.append(Value(annotated, Basis.ANNOTATION, f"annotation in line {argument.lineno}"))
    values += _default(kernel, argument)
    if values and values[0].basis.rank <= Basis.ANNOTATION.rank:
        return [*values, *_used(kernel, name)]
    return [*values, *_used(kernel, name), *_named(kernel, name)] or [
        Value("i32", Basis.ASSUMED, "nothing shows what it is")
    ]


def _passed(kernel: _Kernel, name: str, value: Abstract, launch: Launch) -> list[tuple[Any, Basis, str]]:
    """What the launcher makes of an argument."""
    at = launch.where
    match value:
        case Int(inner=True):
            if name in kernel.jitted.not_specialized:
                return [("i32", Basis.LAUNCH, at)]
            return [(1, Basis.LAUNCH, f"innermost stride, {at}"), ("i32", Basis.LAUNCH, at)]
        case Int(stride=str()):
            return [("i32", Basis.LAUNCH, f"stride, {at}")]
        case Int(value=1, exact=True) if name not in kernel.jitted.not_specialized:
            return [(1, Basis.LAUNCH, at)]
        case Int(value=int(number), exact=True):
            return [("i32" if -(1 << 31) <= number < 1 << 31 else "i64", Basis.LAUNCH, at)]
        case Int():
            if uses_pointer_cast := kernel.uses.has(name, Use.POINTER_CAST):
                return [("i64", Basis.USE, uses_pointer_cast)]
            return [("i32", Basis.LAUNCH, at)]
        case Float():
            return [("fp32", Basis.LAUNCH, at)]
        case Const(value=bool()):
            return [("i1", Basis.LAUNCH, at)]
        case Const(value=None):
            return [(None, Basis.LAUNCH, at)]
        case Dtype(name=dtype):
            return [(kernel.elements.language_type(dtype), Basis.LAUNCH, at)]
    return []


def _default(kernel: _Kernel, argument: ast.arg) -> list[Value]:
    """The default in the signature."""
    default = default_of(kernel.jitted, argument.arg)
    at = f"default in line {argument.lineno}"
    match default:
        case ast.Constant(value=bool()):
            return [Value("i1", Basis.DEFAULT, at)]
        case ast.Constant(value=int(number)):
            return [Value(1, Basis.DEFAULT, at)] if number == 1 else [Value("i32", Basis.DEFAULT, at)]
        case ast.Constant(value=float()):
            return [Value("fp32", Basis.DEFAULT, at)]
        case ast.Constant(value=None):
            return [Value(None, Basis.DEFAULT, at)]
    return []


def _used(kernel: _Kernel, name: str) -> list[Value]:
    """What the kernel's use of a scalar shows."""
    uses, rule = kernel.uses, role(name)
    integer, floating = uses.has(name, Use.INTEGER), uses.has(name, Use.FLOAT)
    if name in kernel.innermost:
        return [Value(1, Basis.NAME, "last of the strides that are named alike"), Value("i32", Basis.NAME, "a stride")]
    if cast := uses.has(name, Use.POINTER_CAST):
        return [Value("i64", Basis.USE, cast)]
    if integer and not (floating and rule is not None and rule.role is Role.FLOAT):
        return [Value("i32", Basis.USE, integer)]
    if floating and not (rule is not None and rule.role in (Role.INTEGER, Role.STRIDE)):
        return [Value("fp32", Basis.USE, floating)]
    weak = kernel.elements.meets_floats(uses.weak_floats.get(name, set()))
    if weak and (rule is None or rule.role is Role.FLOAT):
        return [Value("fp32", Basis.USE, f"operation with elements of {weak}")]
    return []


def _named(kernel: _Kernel, name: str) -> list[Value]:
    rule = role(name)
    match rule.role if rule else None:
        case Role.FLOAT:
            return [Value("fp32", Basis.NAME, f"named as {rule.reason if rule else ''}")]
        case Role.INTEGER | Role.STRIDE | Role.FLAG:
            return [Value("i32", Basis.NAME, f"named as {rule.reason if rule else ''}")]
    condition = kernel.uses.has(name, Use.CONDITION)
    return [Value("i32", Basis.USE, condition)] if condition else []


def _constexpr(kernel: _Kernel, argument: ast.arg) -> list[Value]:
    name, uses = argument.arg, kernel.uses
    values: list[Value] = []
    assumed: list[Value] = []
    for value, launch in _values(kernel, name):
        at = launch.where
        constant = _constant_of(value, name, kernel)
        if constant is None and value != NONE:
            continue
        if isinstance(value, Int) and not value.exact and (unrolled := uses.has(name, Use.UNROLLED)):
            assumed.append(Value(min(constant, _UNROLLED), Basis.LAUNCH, f"{at}, few, {unrolled}", exact=False))
        elif isinstance(value, Int | Float) and not value.exact:
            assumed.append(Value(constant, Basis.LAUNCH, f"{at}, of usual sizes", exact=False))
        elif isinstance(value, Dtype) and value.name is None:
            assumed.append(Value(constant, Basis.LAUNCH, f"{at}, of the tensors' type", exact=False))
        else:
            values.append(Value(constant, Basis.LAUNCH, at))
    default = default_of(kernel.jitted, name)
    at = f"default in line {argument.lineno}"
    if default is not None:
        constant, known = literal(default)
        if known:
            # What is left out of a launch is the default.
            explicit = any(name in launch.arguments for launch in kernel.launches)
            values.insert(len(values) if explicit else 0, Value(constant, Basis.DEFAULT, at))
    values += assumed
    if uses.has(name, Use.REFUSED):
        values.sort(key=lambda value: bool(value.value))
    rule = role(name)
    if dtype := uses.has(name, Use.DTYPE):
        values.append(Value(kernel.elements.language_type(None), Basis.USE, dtype))
    for constant in uses.equal.get(name, []):
        values.append(Value(constant, Basis.USE, "a value that the kernel compares it with"))
    condition, integer = uses.has(name, Use.CONDITION), uses.has(name, Use.INTEGER)
    if condition and not integer and not uses.equal.get(name):
        values += [Value(True, Basis.USE, condition), Value(False, Basis.USE, condition)]
    elif rule is not None and rule.role is Role.FLAG and not integer:
        values += [
            Value(True, Basis.NAME, f"named as {rule.reason}"),
            Value(False, Basis.NAME, f"named as {rule.reason}"),
        ]
    elif rule is not None and rule.role is Role.FLOAT and not integer:
        values.append(Value(1.0, Basis.NAME, f"named as {rule.reason}"))
    elif uses.has(name, Use.OPTIONAL) and not integer:
        values.append(Value(None, Basis.USE, uses.has(name, Use.OPTIONAL) or ""))
    if rule is not None and rule.role is Role.STRIDE:
        values.append(Value(1 if name in kernel.innermost else _ROW_STRIDE, Basis.NAME, "a stride"))
    if integer or not values:
        basis = Basis.NAME if integer else Basis.ASSUMED
        size = min(usual_size(name), _UNROLLED) if uses.has(name, Use.UNROLLED) else usual_size(name)
        values.append(Value(size, basis, f"usual size, {integer}" if integer else "nothing shows what it is"))
    return values


def _constant_of(value: Abstract, name: str, kernel: _Kernel | None = None) -> Any:
    """The JSON value of a constant."""
    match value:
        case Const(value=constant):
            return constant
        case Int(value=int(number), exact=False) if number <= 0:
            return usual_size(name)
        case Int(value=None, stride=None):
            return usual_size(name)
        case Int(value=None):
            return _ROW_STRIDE
        case Int(value=number) | Float(value=float(number)):
            return number
        case Float():
            return 1.0
        case Dtype(name=dtype) if kernel is not None:
            return kernel.elements.language_type(dtype)
        case Items(items=items, open=False):
            constants = [_constant_of(item[0], name, kernel) for item in items]
            return None if None in constants else constants
    return None


def _distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    unique: dict[tuple[type, str], Value] = {}
    for value in values:
        unique.setdefault((type(value.value), repr(value.value)), value)
    return tuple(unique.values())
