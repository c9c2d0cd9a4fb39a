"""Ranks what the sources show of each parameter of one kernel."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from triage.drafts.device.uses import Use, Uses
from triage.drafts.elements import ElementTypes, element_types
from triage.drafts.host.frame import Launch
from triage.drafts.host.values import (
    NONE,
    Abstract,
    Const,
    Descriptor,
    Dtype,
    Float,
    Int,
    Items,
    TensorValue,
    Unknown,
)
from triage.drafts.jitted import Jitted, dotted
from triage.drafts.model import Basis, JitFunction, Parameter, Value
from triage.drafts.names import Role, role, usual_size
from triage.drafts.project import ProjectFile

_ANNOTATIONS = {
    "int32": "i32", "int64": "i64", "uint32": "u32", "uint64": "u64", "int1": "i1", "int8": "i8", "uint8": "u8",
    "int16": "i16", "float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16",
    "int": "i32", "float": "fp32", "bool": "i1",
}  # fmt: skip
"""Annotations of a parameter that is no constexpr, by their last component."""


_UNROLLED = 4
"""Times that a loop is unrolled whose number nobody states; the compile takes as many times as long."""


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
    pointers = _pointers(jitted, launches, uses)
    heuristics = _heuristics(jitted)
    configs, configured = _configs(jitted)
    kernel = _Kernel(
        jitted,
        launches,
        uses,
        element_types(launches, uses, pointers, half),
        pointers,
        _innermost(jitted, launches),
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
        obstacle,
    )


def is_constexpr(argument: ast.arg) -> bool:
    return argument.annotation is not None and "constexpr" in ast.unparse(argument.annotation)


def never_pointers(jitted: Jitted, launches: list[Launch]) -> frozenset[str]:
    """Parameters that are no addresses: constants, and those that launches pass numbers for."""
    names = {argument.arg for argument in jitted.arguments if is_constexpr(argument)}
    for argument in jitted.arguments:
        values = [value for launch in launches for value in launch.arguments.get(argument.arg, ())]
        values = [value for value in values if not isinstance(value, Unknown) and value != NONE]
        if values and all(isinstance(value, Int | Float | Const | Dtype) for value in values):
            names.add(argument.arg)
        if not values and argument.annotation is not None and _annotated(argument) is not None:
            names.add(argument.arg)
        rule = role(argument.arg)
        if not values and rule is not None and rule.role is Role.STRIDE:
            names.add(argument.arg)
    return frozenset(names)


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


def _pointers(jitted: Jitted, launches: list[Launch], uses: Uses) -> frozenset[str]:
    """Parameters that are addresses, or descriptors."""
    names = set()
    for argument in jitted.arguments:
        name = argument.arg
        if is_constexpr(argument):
            continue
        values = [value for launch in launches for value in launch.arguments.get(name, ())]
        rule = role(name)
        tensor = any(isinstance(value, TensorValue | Descriptor) for value in values)
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


def _innermost(jitted: Jitted, launches: list[Launch]) -> frozenset[str]:
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
    """16 for strides of outer dimensions and for sizes that a launch states; what is not specialized has no divisor."""
    if name in kernel.jitted.not_specialized:
        return 1
    if not isinstance(best.value, str) or not best.value.startswith(("i", "u")):
        return None
    values = [value for value, _ in _values(kernel, name)]
    match values[0] if values else None:
        case Int(stride=str(), inner=False):
            return 16
        case Int(value=int(number), exact=True) if number % 16 == 0:
            return 16
    rule = role(name)
    if not values and rule is not None and rule.role is Role.STRIDE and name not in kernel.innermost:
        return 16
    return None


# Arguments of a launch


def _argument(kernel: _Kernel, argument: ast.arg) -> list[Value]:
    name = argument.arg
    values: list[Value] = []
    passed = dict.fromkeys(value for value, _ in _values(kernel, name))
    number = next((isinstance(value, Int | Float) for value in passed if value != NONE), False)
    if name in kernel.pointers and passed.keys() != {NONE} and not number:
        values += kernel.elements.of(name)
    annotated = _annotated(argument)
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
    return [*_merged_basis(values, _used(kernel, name)), *_named(kernel, name)] or [
        Value("i32", Basis.ASSUMED, "nothing tells what it is")
    ]


def _merged_basis(defaults: list[Value], used: list[Value]) -> list[Value]:
    return [*defaults, *used]


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


def _annotated(argument: ast.arg) -> str | None:
    """The type that an annotation states."""
    node = argument.annotation
    if node is None or is_constexpr(argument):
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value.strip()
        return (
            text if text.startswith("*") or text in _ANNOTATIONS.values() else _ANNOTATIONS.get(text.rpartition(".")[2])
        )
    name = dotted(node)
    return _ANNOTATIONS.get(name.rpartition(".")[2]) if name else None


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


def default_of(jitted: Jitted, name: str) -> ast.expr | None:
    """The expression of a parameter's default."""
    arguments = jitted.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        if argument.arg == name and index >= first:
            return arguments.defaults[index - first]
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if argument.arg == name:
            return default
    return None


def _used(kernel: _Kernel, name: str) -> list[Value]:
    """What the kernel's use of a scalar tells."""
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


# Constants


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
        constant, known = _literal(default)
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
        values.append(Value(1 if name in kernel.innermost else 1024, Basis.NAME, "a stride"))
    if integer or not values:
        basis = Basis.NAME if integer else Basis.ASSUMED
        size = min(usual_size(name), _UNROLLED) if uses.has(name, Use.UNROLLED) else usual_size(name)
        values.append(Value(size, basis, f"usual size, {integer}" if integer else "nothing tells what it is"))
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
            return 1024
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


def _literal(node: ast.expr) -> tuple[Any, bool]:
    """The JSON value of a default, and whether it is one."""
    if isinstance(node, ast.Call) and (dotted(node.func) or "").endswith("constexpr") and node.args:
        node = node.args[0]
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        name = dotted(node)
        return (f"tl.{name.rpartition('.')[2]}", True) if name and name.startswith("tl.") else (None, False)
    return value, value is None or isinstance(value, bool | int | float | str)


# Tuning


def _heuristics(jitted: Jitted) -> tuple[str, ...]:
    """The parameters that heuristics set."""
    names: dict[str, None] = {}
    for decorator in jitted.decorators:
        if isinstance(decorator, ast.Call) and (dotted(decorator.func) or "").endswith("heuristics"):
            for node in _with_globals(jitted.file, [*decorator.args, *(word.value for word in decorator.keywords)]):
                if isinstance(node, ast.Dict):
                    names.update((str(key.value), None) for key in node.keys if isinstance(key, ast.Constant))
    return tuple(names)


def _configs(jitted: Jitted) -> tuple[tuple[str, ...], dict[str, list[Value]]]:
    """The autotune configurations as the source writes them, and the values that they state for parameters."""
    texts: dict[str, None] = {}
    values: dict[str, list[Value]] = {}
    names = {argument.arg for argument in jitted.arguments}
    for decorator in jitted.decorators:
        if not isinstance(decorator, ast.Call) or "autotune" not in (dotted(decorator.func) or "").lower():
            continue
        for node in _with_globals(jitted.file, [*decorator.args, *(word.value for word in decorator.keywords)]):
            if not isinstance(node, ast.Call) or not (dotted(node.func) or "").endswith("Config"):
                continue
            texts[" ".join(ast.unparse(node).split())] = None
            for inner in ast.walk(node):
                if isinstance(inner, ast.Dict):
                    for key, value in zip(inner.keys, inner.values, strict=True):
                        if isinstance(key, ast.Constant) and key.value in names:
                            constant, known = _literal(value)
                            stated = values.setdefault(key.value, [])
                            if known:
                                stated.append(Value(constant, Basis.CONFIG, f"configuration in line {node.lineno}"))
    return tuple(texts), values


def _with_globals(file: ProjectFile, nodes: Iterable[ast.expr]) -> list[ast.AST]:
    """All nodes of expressions, and those of the definitions in the file that they name."""
    result: list[ast.AST] = []
    waiting: list[ast.AST] = list(nodes)
    seen: set[str] = set()
    while waiting:
        node = waiting.pop()
        for each in ast.walk(node):
            result.append(each)
            if isinstance(each, ast.Name) and each.id in file.definitions and each.id not in seen:
                seen.add(each.id)
                for definition in file.definitions[each.id]:
                    waiting.append(definition if isinstance(definition, ast.AST) else definition.node)
    return result


def _distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    unique: dict[tuple[type, str], Value] = {}
    for value in values:
        unique.setdefault((type(value.value), repr(value.value)), value)
    return tuple(unique.values())
