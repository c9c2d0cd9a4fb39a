"""A host function with what its launches, its annotations and its uses show of each parameter."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from triage.drafts.cute import describe
from triage.drafts.cute.architectures import required_target
from triage.drafts.cute.calls import combinations
from triage.drafts.cute.describe import DescribedValue, Undescribed, annotation_name
from triage.drafts.cute.hosts import CuteHost
from triage.drafts.cute.program import CuteLaunch
from triage.drafts.cute.uses import uses
from triage.drafts.cute.values import UNKNOWN, ClassValue, FunctionValue
from triage.drafts.model import Basis, JitFunction, Parameter, Value
from triage.frontends.cute_host import STREAMS
from triage.harness.worker.cute.grammar import DTYPES
from triage.model.language import Language

_SCALARS = {name: short for short, name in DTYPES.items()}


def infer(host: CuteHost) -> JitFunction:
    """The host function as a case needs it: the parameters of its constructor, where it is a class, and its own."""
    value = host.value
    complete = sorted(host.launches, key=lambda launch: len(launch.unresolved))
    own = [launch for launch in complete if launch.method in ("", "__call__")]
    guessed = uses(host)
    read: list[Parameter] = []
    if isinstance(value, ClassValue):
        constructor = value.find("__init__")
        if isinstance(constructor, FunctionValue):
            read += _parameters(constructor, True, own, guessed)
        elif value.fields is not None:
            read += _fields(value, own)
    known = {parameter.name for parameter in read}
    read += [each for each in _parameters(host.call, False, own, guessed) if each.name not in known]
    node = value.node
    tree = value.module.tree
    target, word = required_target(tree)
    assert not isinstance(node, ast.Lambda)
    return JitFunction(
        file=value.module.path,
        name=node.name,
        line=node.lineno,
        language=Language.CUTE,
        launched=host.launched,
        parameters=tuple(read),
        launches=tuple(launch.where for launch in own),
        launched_with=_configurations(read, own, host.call.tuned),
        target=Value(str(target), Basis.USE, word) if word else None,
        unsupported=_unsupported(host, complete, own),
    )


def _unsupported(host: CuteHost, launches: list[CuteLaunch], own: list[CuteLaunch]) -> str | None:
    """Why a case cannot state what is launched."""
    others = {launch.method for launch in launches} - {launch.method for launch in own}
    if others and not own:
        return f"launched through its method {min(others)}, and a case calls {host.key[1]} itself"
    return None


def _parameters(
    function: FunctionValue, of_constructor: bool, launches: list[CuteLaunch], guessed: Mapping[str, list[Value]]
) -> list[Parameter]:
    skipped = 1 if function.owner is not None and function.kind != "staticmethod" else 0
    return [_parameter(function, each, of_constructor, launches, guessed) for each in function.parameters[skipped:]]


def _parameter(
    function: FunctionValue,
    argument: ast.arg,
    of_constructor: bool,
    launches: list[CuteLaunch],
    guessed: Mapping[str, list[Value]],
) -> Parameter:
    name, kind = argument.arg, annotation_name(argument.annotation)
    constexpr = of_constructor or kind == "Constexpr"
    values = [value for launch in launches if (value := _passed(launch, name, of_constructor)) is not None]
    problem = next((launch.unresolved[name] for launch in launches if name in launch.unresolved), "")
    at = f"annotation in line {argument.lineno}"
    has_default = name in function.defaults
    if not constexpr and kind in _SCALARS:
        values.append(Value(_SCALARS[kind], Basis.ANNOTATION, at))
    elif not constexpr and kind in STREAMS:
        values.append(Value("stream", Basis.ANNOTATION, at))
    if has_default:
        values += _default(function.defaults[name], argument)
    if not has_default:
        values += guessed.get(name, [])
    return Parameter(
        name,
        constexpr,
        _distinct(values),
        constructor=of_constructor,
        has_default=has_default,
        unknown=problem or "no source states it",
    )


def _passed(launch: CuteLaunch, name: str, of_constructor: bool) -> Value | None:
    """What a launch passes for a parameter."""
    described = (launch.construct if of_constructor else launch.values).get(name)
    return _value(described, launch) if described is not None else None


def _value(described: DescribedValue, launch: CuteLaunch) -> Value:
    where = f"{launch.where}, made in {described.origin}" if described.origin else launch.where
    if not described.exact:
        where += ", of usual sizes"
    if launch.doubtful:
        where += ", behind a check that fails"
    return Value(described.value, Basis.LAUNCH, where, described.exact and not launch.doubtful, described.constant)


def _default(value: Any, argument: ast.arg) -> list[Value]:
    try:
        described = describe.constant(value)
    except Undescribed:
        return []
    return [Value(described.value, Basis.DEFAULT, f"default in line {argument.lineno}", True, True)]


def _fields(cls: ClassValue, launches: list[CuteLaunch]) -> list[Parameter]:
    """The parameters of the constructor of a dataclass."""
    read = []
    for name, default in (cls.fields or {}).items():
        values = [value for launch in launches if (value := _passed(launch, name, True)) is not None]
        has_default = default is not UNKNOWN
        read.append(Parameter(name, True, _distinct(values), constructor=True, has_default=has_default))
    return read


def _distinct(values: list[Value]) -> tuple[Value, ...]:
    unique: dict[tuple[bool, str], Value] = {}
    for value in values:
        unique.setdefault((value.constant, repr(value.value)), value)
    return tuple(unique.values())


def _configurations(
    read: list[Parameter], launches: list[CuteLaunch], tuned: Mapping[str, Any]
) -> tuple[Mapping[str, Value], ...]:
    """What each launch passes, the complete ones first; those that pass the same count once. ``tuned``: lists of
    values of parameters, each combination of which an autotuner tries."""
    configurations: dict[str, Mapping[str, Value]] = {}
    for launch in launches:
        passed = {
            parameter.name: value
            for parameter in read
            if (value := _passed(launch, parameter.name, parameter.constructor)) is not None
        }
        configurations.setdefault(repr({name: value.value for name, value in passed.items()}), passed)
    if not tuned:
        return tuple(configurations.values())
    where = "autotune_jit of the function"
    return tuple(
        {**passed, **{name: Value(value, Basis.CONFIG, where, True, True) for name, value in row.items()}}
        for passed in list(configurations.values()) or [{}]
        for row in _described(tuned)
    )


def _described(tuned: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The combinations of an autotuner's values that a case can state."""
    rows = []
    for row in combinations(tuned):
        try:
            rows.append({name: describe.constant(value).value for name, value in row.items()})
        except Undescribed:
            continue
    return rows
