"""Functions of a program that launch something and that its main block does not reach: wrappers of a library, tests.
They are run with arguments that are assumed by annotation, default, name, or taken from a test's parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from triage.drafts.cute.decorators import of_decorators
from triage.drafts.cute.describe import annotation_name
from triage.drafts.cute.program import HostProgram
from triage.drafts.cute.values import (
    UNKNOWN,
    ClassValue,
    ElementType,
    FunctionValue,
    Guess,
    ModuleValue,
    ObjectValue,
    StreamValue,
    TorchDtype,
    TorchTensor,
)
from triage.drafts.names import Role, role, usual_size
from triage.frontends.cute_host import STREAMS

_MOST_ENTRIES = 24
"""Functions of a file that are run; a file of tests has as many."""
_CALLERS = 2
"""Calls to follow backwards from a launch: a wrapper's caller states what it passes."""


def run_entries(program: HostProgram, module: ModuleValue, hosts: set[str]) -> None:
    """Run the functions of a module that launch something and were not run yet, callers first. ``hosts``: names of host
    functions and of classes."""
    functions = list(_functions(module))
    launching = [each for each in functions if _launches(each[0].node, hosts)]
    names = {function.name for function, _ in launching}
    callers = [*launching]
    for _ in range(_CALLERS):
        above = [each for each in functions if each not in callers and _names(each[0].node) & names]
        names |= {function.name for function, _ in above}
        callers = [*above, *callers]
    for function, owner in callers[:_MOST_ENTRIES]:
        if function.node not in program.entered and not function.device:
            program.failed_check = False
            program.alone(lambda function=function, owner=owner: _run(program, function, owner))


def _functions(module: ModuleValue) -> Iterator[tuple[FunctionValue, ClassValue | None]]:
    """The functions and methods of a module."""
    for value in list(module.names.values()):
        if isinstance(value, FunctionValue) and value.module is module and not isinstance(value.node, ast.Lambda):
            yield value, None
        elif isinstance(value, ClassValue) and value.module is module:
            methods = [each for each in value.names.values() if isinstance(each, FunctionValue)]
            yield from ((each, value) for each in methods if not isinstance(each.node, ast.Lambda))


def _launches(node: ast.AST, hosts: set[str]) -> bool:
    """Whether a function compiles something, or names a host function."""
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Attribute(attr="compile", value=ast.Name(id="cute" | "cutlass"))):
                return True
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in hosts:
                return True
            case ast.Name(id="from_dlpack") | ast.Attribute(attr="from_dlpack"):
                return True
    return False


def _names(node: ast.AST) -> set[str]:
    names = {each.func for each in ast.walk(node) if isinstance(each, ast.Call)}
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in names
        if isinstance(each, ast.Name | ast.Attribute)
    }


def _run(program: HostProgram, function: FunctionValue, owner: ClassValue | None) -> None:
    stated = of_decorators(program, function)
    words: dict[str, Any] = {}
    arguments = function.parameters
    if owner is not None and function.kind != "staticmethod" and arguments:
        words[arguments[0].arg] = owner if function.kind == "classmethod" else _object(program, owner)
    for argument in arguments:
        name = argument.arg
        if name in words:
            continue
        if name in stated:
            words[name] = stated[name]
        elif name not in function.defaults or (function.defaults[name] is None and _is_tensor(argument)):
            words[name] = assumed(argument, function.node)
    program.run_function(function, (), words)


def _object(program: HostProgram, cls: ClassValue) -> Any:
    constructor = cls.find("__init__")
    if not isinstance(constructor, FunctionValue):
        return ObjectValue(cls)
    words = {
        argument.arg: assumed(argument, constructor.node)
        for argument in constructor.parameters[1:]
        if argument.arg not in constructor.defaults
    }
    return program.alone(lambda: program.construct(cls, (), words))


def _is_tensor(argument: ast.arg) -> bool:
    return annotation_name(argument.annotation) == "Tensor"


def assumed(argument: ast.arg, function: ast.AST) -> Any:
    """A value for a parameter that is not stated."""
    name, kind = argument.arg, annotation_name(argument.annotation)
    if kind in STREAMS:
        return StreamValue()
    match kind:
        case "Tensor":
            return TorchTensor("bf16", None, None, True, f"{name} in line {argument.lineno}")
        case "int":
            return Guess(usual_size(name))
        case "float":
            return 1.0
        case "bool":
            return False
        case "dtype":
            return TorchDtype("bf16", True)
        case "Type" | "type" | "Numeric":
            return ElementType("f32" if "acc" in name else "f16", True)
    if kind:
        return UNKNOWN
    used = {
        node.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name
    }
    if used & {"shape", "stride", "data_ptr", "contiguous", "device", "element_size", "numel", "dim"}:
        return TorchTensor("bf16", None, None, True, f"{name} in line {argument.lineno}")
    if "dtype" in name:
        return ElementType("f32" if "acc" in name else "f16", True) if "torch" not in name else TorchDtype("bf16", True)
    rule = role(name)
    match rule.role if rule else None:
        case Role.INTEGER:
            return Guess(usual_size(name))
        case Role.FLOAT:
            return 1.0
        case Role.FLAG:
            return False
    return UNKNOWN
